"""One tool call that a running server carries out."""

import json
from contextlib import suppress
from typing import TYPE_CHECKING

from codeplane.answers import error_text
from codeplane.core.documents import decode_json
from codeplane.core.errors import InvalidArgument, NotServing
from codeplane.core.ids import SessionId
from codeplane.server.answer import Answer
from codeplane.server.transport.link import (
    BEGUN,
    SESSION_META_KEY,
    SINGLE_META_KEY,
    STRUCTURED_META_KEY,
    WHILE_WRITING,
    Link,
    interrupted,
)

if TYPE_CHECKING:
    from codeplane.server.pipeline import Progress

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "cpl", "version": "call"},
    "io.modelcontextprotocol/clientCapabilities": {},
    STRUCTURED_META_KEY: True,
    SINGLE_META_KEY: True,
}


async def call_there(
    link: Link,
    tool: str,
    arguments: object,
    progress: "Progress | None" = None,
    session: SessionId | None = None,
) -> Answer:
    """Sends the call to the running server and waits for its answer; without a `session` it is on its own."""
    token = {"progressToken": 1} if progress is not None else {}
    meta = {**ENVELOPE, **token}
    if session is not None:
        meta |= {SINGLE_META_KEY: False, SESSION_META_KEY: session}
    params = {"name": tool, "arguments": arguments, "_meta": meta}
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
