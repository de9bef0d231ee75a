"""One tool call outside a conversation."""

import json
from contextlib import suppress

from codeplane.answers import error_text
from codeplane.core.documents import decode_json
from codeplane.core.errors import InvalidArgument, NotServing
from codeplane.server.answer import Answer
from codeplane.server.logs import close_logs, set_up_own_log
from codeplane.server.pipeline import Pipeline, Progress, Request
from codeplane.server.transport.link import (
    BEGUN,
    SINGLE_META_KEY,
    STRUCTURED_META_KEY,
    WHILE_WRITING,
    Link,
    interrupted,
)
from codeplane.session import Checkout, RepoSession
from codeplane.session.claim import claim
from codeplane.storage import StateDir
from codeplane.tools import offered_tools

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "cpl", "version": "call"},
    "io.modelcontextprotocol/clientCapabilities": {},
    STRUCTURED_META_KEY: True,
    SINGLE_META_KEY: True,
}


async def call_here(
    checkout: Checkout, tool: str, arguments: object, progress: Progress | None = None
) -> Answer:
    """Runs the call in this process, as the only server of the repository while it lasts."""
    lock = claim(checkout)
    try:
        set_up_own_log(checkout.settings.logging, StateDir.at(checkout.root).log_file)
        repo = RepoSession.open(checkout)
        try:
            return await Pipeline(repo, offered_tools(checkout.settings)).call(
                Request(tool, arguments, "cpl call", is_single=True, progress=progress)
            )
        finally:
            repo.close()
    finally:
        close_logs()
        lock.release()


async def call_there(link: Link, tool: str, arguments: object, progress: Progress | None = None) -> Answer:
    """Sends the call to the running server and waits for its answer."""
    token = {"progressToken": 1} if progress is not None else {}
    params = {"name": tool, "arguments": arguments, "_meta": {**ENVELOPE, **token}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    is_begun = False
    with suppress(ConnectionError):
        await link.send(json.dumps(request).encode() + b"\n")
    while line := await link.line():
        message = decode_json(line)
        is_begun |= message.get("method") == BEGUN
        if progress is not None and message.get("method") == "notifications/progress":
            step = message.get("params", {})
            await progress(step.get("progress", 0), step.get("total"), step.get("message"))
        if "error" in message:
            # A request that could not be read at all is answered without its id; it was the only one.
            error = InvalidArgument(message["error"]["message"]).to_wire()
            return Answer({"error": error}, is_error=True, text=error_text(error))
        if message.get("id") != 1:
            continue
        result = message["result"]
        text = result["content"][0]["text"]
        return Answer(result["structuredContent"], bool(result.get("isError", False)), text)
    if is_begun:
        raise interrupted(WHILE_WRITING)
    raise NotServing("The server ended before it answered.", hints=["Call again."])
