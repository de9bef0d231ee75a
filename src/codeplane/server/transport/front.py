"""The stdio side of `cpl mcp`: lines of a client, carried to whichever process serves the repository.

When that process ends, the front finds or becomes the next one, repeats the client's handshake and sends
again what had not started. A call that was writing is answered with an error instead: repeating it could
do the work twice.
"""

import asyncio
import json
import re
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Final

from codeplane.answers import error_text
from codeplane.core.documents import decode_json
from codeplane.server.transport.link import (
    BEGUN,
    INTERNAL_ERROR,
    LEAVING,
    STRUCTURED_META_KEY,
    WHILE_WRITING,
    Link,
    interrupted,
    json_line,
)
from codeplane.server.transport.stdio import ClientGone, StdioLines

Connect = Callable[[], Awaitable[Link]]

_ID_AT_START: Final = re.compile(rb'\{"jsonrpc":"2\.0","id":(-?\d+|"[^"\\]*"),"(?:result|error)"')
_FINISH_SEC: Final = 5
_TWICE: Final = "The server ended twice while this request ran; it is not sent a third time."


class Front:
    """Carries one client. Remembers its handshake and what it still waits for."""

    def __init__(self, lines: StdioLines, connect: Connect) -> None:
        self._lines = lines
        self._connect = connect
        self._handshake: list[bytes] = []
        self._waiting: dict[str, bytes] = {}
        self._begun: set[str] = set()
        # What the server is still to be sent. A request is in here at most once: `_resume` fills it anew.
        self._outbox: deque[bytes] = deque()
        # Whether the client has closed its side.
        self._at_end = False
        self._swallow: set[str] = set()
        self._repeated: set[str] = set()
        self._left = False

    async def run(self) -> None:
        """Returns when the client has closed its side and has its answers."""
        link = await self._connect()
        try:
            while not await self._carry_link(link):
                link.close()
                link = await self._resume_link()
        except ClientGone:
            return
        finally:
            link.close()
            await self._lines.flush(_FINISH_SEC)

    async def _carry_link(self, link: Link) -> bool:
        """Runs both directions; True when the client is done, False when the server went away."""
        upward = asyncio.ensure_future(self._upward(link))
        downward = asyncio.ensure_future(self._downward(link))
        ensure_future = asyncio.ensure_future(self._lines.gone.wait())
        await asyncio.wait({upward, downward, ensure_future}, return_when=asyncio.FIRST_COMPLETED)
        if self._at_end and self._waiting:
            await asyncio.wait({downward}, timeout=_FINISH_SEC)
        at_end = self._at_end and not (self._waiting and downward.done())
        for task in (upward, downward, ensure_future):
            task.cancel()
        await asyncio.gather(upward, downward, ensure_future, return_exceptions=True)
        if self._lines.gone.is_set():
            raise ClientGone
        return at_end

    async def _upward(self, link: Link) -> None:
        """Ends when the client has closed its side and everything is sent."""
        while True:
            while self._outbox:
                try:
                    await link.send(self._outbox[0])
                except ConnectionError:
                    # The server has ended when all is read that it said before: which writes have begun.
                    await self._lines.gone.wait()
                self._outbox.popleft()
            if self._at_end:
                return
            line = await self._lines.next()
            self._at_end = not line
            if line:
                self._remember_line(line)
                self._outbox.append(line)

    async def _downward(self, link: Link) -> None:
        """Ends when the server closes, or when the client is gone and nothing is awaited."""
        while line := await link.line():
            if self._keep(line):
                await self._lines.write(line)
            if self._at_end and not self._waiting:
                return

    def _remember_line(self, line: bytes) -> None:
        message = _parse_line(line)
        method = message.get("method")
        if method in ("initialize", "notifications/initialized"):
            self._handshake.append(line)
        if method == "notifications/cancelled":
            self._forget(message)
        elif method is not None and "id" in message:
            self._waiting[_request_key(message["id"])] = line

    def _forget(self, cancelled: dict[str, Any]) -> None:
        """A request that the client has cancelled is not answered, and not sent to another server."""
        params = cancelled.get("params")
        if isinstance(params, dict):
            self._waiting.pop(_request_key(params.get("requestId")), None)

    def _keep(self, line: bytes) -> bool:
        """Whether a line of the server is for the client; notes what it answers."""
        fast = _ID_AT_START.match(line)
        message = {"id": decode_json(fast.group(1))} if fast else _parse_line(line)
        if message.get("method") == BEGUN:
            self._begun.add(_request_key(message["params"]["id"]))
            return False
        if message.get("method") == LEAVING:
            self._left = True
            return False
        if "method" not in message and "id" in message:
            key = _request_key(message["id"])
            self._waiting.pop(key, None)
            self._begun.discard(key)
            if key in self._swallow:
                self._swallow.discard(key)
                return False
        return True

    async def _resume_link(self) -> Link:
        """Finds the next server and brings it to where the client believes it is."""
        # A call under which two servers broke, without saying that they leave, may be what ends them.
        suspects = set() if self._left else self._repeated
        for key in sorted((self._begun | suspects) & self._waiting.keys()):
            reason = WHILE_WRITING if key in self._begun else _TWICE
            await self._lines.write(_interrupted(self._waiting.pop(key), reason))
        self._begun.clear()
        link = await self._connect()
        opening = {_request_key(m["id"]) for m in map(_parse_line, self._handshake) if "id" in m}
        lines = [line for key, line in self._waiting.items() if key not in opening]
        self._repeated = set() if self._left else self._waiting.keys() - opening
        self._left = False
        self._swallow = opening - self._waiting.keys()
        notes = [
            line for line in self._outbox if line not in self._handshake and "id" not in _parse_line(line)
        ]
        self._outbox = deque([*self._handshake, *lines, *notes])
        return link


def _parse_line(line: bytes) -> dict[str, Any]:
    try:
        message = decode_json(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _request_key(request_id: object) -> str:
    return json.dumps(request_id)


def _interrupted(line: bytes, reason: str) -> bytes:
    """The answer to a request whose server ended: a tool's error for a call, the protocol's for others."""
    request = _parse_line(line)
    if request.get("method") != "tools/call":
        return json_line({"id": request["id"], "error": {"code": INTERNAL_ERROR, "message": reason}})
    error = interrupted(reason).to_wire()
    result: dict[str, Any] = {"content": [{"type": "text", "text": error_text(error)}], "isError": True}
    if request.get("params", {}).get("_meta", {}).get(STRUCTURED_META_KEY) is True:
        result["structuredContent"] = {"error": error, "meta": {}}
    return json_line({"id": request["id"], "result": result})
