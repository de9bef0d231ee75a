"""The stdio side of `cpl mcp`: lines of a client, carried to whichever process serves the repository.

When that process ends, the front finds or becomes the next one, repeats the client's handshake and sends
again what had not started. A call that was writing is answered with an error instead: repeating it could
do the work twice.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

from codeplane.core.errors import CallInterrupted
from codeplane.server.link import BEGUN, INTERNAL_ERROR, LEAVING, Link, json_line
from codeplane.server.stdio import ClientGone, StdioLines

Connect = Callable[[], Awaitable[Link]]

_ID_AT_START: Final = re.compile(rb'\{"jsonrpc":"2\.0","id":(-?\d+|"[^"\\]*"),"(?:result|error)"')
_FINISH_SEC: Final = 5
_WHILE_WRITING: Final = "The server ended while this call was writing; whether it took effect is not known."
_TWICE: Final = "The server ended twice while this request ran; it is not sent a third time."


class Front:
    """Carries one client. Remembers its handshake and what it still waits for."""

    def __init__(self, lines: StdioLines, connect: Connect) -> None:
        self._lines = lines
        self._connect = connect
        self._handshake: list[bytes] = []
        self._waiting: dict[str, bytes] = {}
        self._begun: set[str] = set()
        self._unsent: bytes | None = None
        self._swallow: set[str] = set()
        self._repeated: set[str] = set()
        self._left = False

    async def run(self) -> None:
        """Returns when the client has closed its side and has its answers."""
        link = await self._connect()
        try:
            while not await self._carry(link):
                await link.close()
                link = await self._resume()
        except ClientGone:
            return
        finally:
            await link.close()
            await self._lines.flush(_FINISH_SEC)

    async def _carry(self, link: Link) -> bool:
        """Runs both directions; True when the client is done, False when the server went away."""
        upward = asyncio.ensure_future(self._upward(link))
        downward = asyncio.ensure_future(self._downward(link))
        gone = asyncio.ensure_future(self._lines.gone.wait())
        await asyncio.wait({upward, downward, gone}, return_when=asyncio.FIRST_COMPLETED)
        if self._at_end and self._waiting:
            await asyncio.wait({downward}, timeout=_FINISH_SEC)
        finished = self._at_end and not (self._waiting and downward.done())
        for task in (upward, downward, gone):
            task.cancel()
        await asyncio.gather(upward, downward, gone, return_exceptions=True)
        if self._lines.gone.is_set():
            raise ClientGone
        return finished

    @property
    def _at_end(self) -> bool:
        """Whether the client has closed its side."""
        return self._unsent == b""

    async def _upward(self, link: Link) -> None:
        while True:
            if self._unsent is None:
                self._unsent = await self._lines.next()
            if not self._unsent:
                return
            self._remember(self._unsent)
            await link.send(self._unsent)
            self._unsent = None

    async def _downward(self, link: Link) -> None:
        """Ends when the server closes, or when the client is gone and nothing is awaited."""
        while line := await self._read(link):
            if self._keep(line):
                await self._lines.write(line)
            if self._at_end and not self._waiting:
                return

    async def _read(self, link: Link) -> bytes:
        try:
            line = await link.reader.readline()
        except (ConnectionError, ValueError):
            return b""
        return line if line.endswith(b"\n") else b""

    def _remember(self, line: bytes) -> None:
        message = _parse(line)
        method = message.get("method")
        if method in ("initialize", "notifications/initialized"):
            self._handshake.append(line)
        if method is not None and "id" in message:
            self._waiting[_key(message["id"])] = line

    def _keep(self, line: bytes) -> bool:
        """Whether a line of the server is for the client; notes what it answers."""
        fast = _ID_AT_START.match(line)
        message = {"id": json.loads(fast.group(1))} if fast else _parse(line)
        if message.get("method") == BEGUN:
            self._begun.add(_key(message["params"]["id"]))
            return False
        if message.get("method") == LEAVING:
            self._left = True
            return False
        if "method" not in message and "id" in message:
            key = _key(message["id"])
            self._waiting.pop(key, None)
            self._begun.discard(key)
            if key in self._swallow:
                self._swallow.discard(key)
                return False
        return True

    async def _resume(self) -> Link:
        """Finds the next server and brings it to where the client believes it is."""
        # A call under which two servers broke, without saying that they leave, may be what ends them.
        suspected = set() if self._left else self._repeated
        for key in sorted((self._begun | suspected) & self._waiting.keys()):
            reason = _WHILE_WRITING if key in self._begun else _TWICE
            await self._lines.write(_interrupted(self._waiting.pop(key), reason))
        self._begun.clear()
        link = await self._connect()
        opening = {_key(m["id"]) for m in map(_parse, self._handshake) if "id" in m}
        repeated = [line for key, line in self._waiting.items() if key not in opening]
        self._repeated = set() if self._left else self._waiting.keys() - opening
        self._left = False
        self._swallow = opening - self._waiting.keys()
        with suppress(ConnectionError):
            for line in [*self._handshake, *repeated]:
                await link.send(line)
        return link


def _parse(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _key(request_id: object) -> str:
    return json.dumps(request_id)


def _interrupted(line: bytes, reason: str) -> bytes:
    """The answer to a request whose server ended: a tool's error for a call, the protocol's for others."""
    request = _parse(line)
    if request.get("method") != "tools/call":
        return json_line({"id": request["id"], "error": {"code": INTERNAL_ERROR, "message": reason}})
    error = CallInterrupted(reason, hints=["Look at the repository's state before you repeat the call."])
    body = {"error": error.to_wire(), "meta": {}}
    text = {"type": "text", "text": json.dumps(body)}
    result = {"content": [text], "structuredContent": body, "isError": True}
    return json_line({"id": request["id"], "result": result})
