"""The stdio side of `cpl mcp`: lines of a client, carried to whichever process serves the repository.

When that process ends, the front finds or becomes the next one, repeats the client's handshake and sends
again what had not started. A call that was writing is answered with an error instead: repeating it could
do the work twice.
"""

import asyncio
import json
import os
import re
import sys
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, BinaryIO, Final

from codeplane.core.errors import CallInterrupted
from codeplane.server.link import BEGUN, Link

Connect = Callable[[], Awaitable[Link]]

_ID: Final = re.compile(rb'"id"\s*:\s*(-?\d+|"[^"\\]*")')
_ID_AT_START: Final = re.compile(rb'\{"jsonrpc":"2\.0","id":(-?\d+|"[^"\\]*"),"(?:result|error)"')
_INVALID_REQUEST: Final = -32600
_INTERNAL_ERROR: Final = -32603
_FINISH_SEC: Final = 5
_WHILE_WRITING: Final = "The server ended while this call was writing; whether it took effect is not known."
_TWICE: Final = "The server ended twice while this request ran; it is not sent a third time."


class StdioLines:
    """The process's own stdin and stdout, kept away from anything else that runs in it."""

    def __init__(self, max_line: int) -> None:
        self._max_line = max_line
        self._in = os.dup(0)
        self._out = os.fdopen(os.dup(1), "wb")
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        self._lines: asyncio.Queue[bytes] = asyncio.Queue()

    def start(self) -> None:
        """Reads in a thread: stdin may be a pipe, a file or a terminal."""
        loop = asyncio.get_running_loop()

        def read() -> None:
            with os.fdopen(self._in, "rb") as stream:
                while line := stream.readline(self._max_line):
                    if not line.endswith(b"\n") and len(line) == self._max_line:
                        _skip_line(stream)
                        loop.call_soon_threadsafe(self.write, _too_large(line, self._max_line))
                    elif line.strip():
                        loop.call_soon_threadsafe(self._lines.put_nowait, line.rstrip(b"\n") + b"\n")
            loop.call_soon_threadsafe(self._lines.put_nowait, b"")

        threading.Thread(target=read, name="stdin", daemon=True).start()

    async def next(self) -> bytes:
        """The next line; empty at the end."""
        return await self._lines.get()

    def write(self, line: bytes) -> None:
        self._out.write(line)
        self._out.flush()


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

    async def run(self) -> None:
        """Returns when the client has closed its side and has its answers."""
        link = await self._connect()
        while True:
            finished = await self._carry(link)
            await link.close()
            if finished:
                return
            link = await self._resume()

    async def _carry(self, link: Link) -> bool:
        """Runs both directions; True when the client is done, False when the server went away."""
        upward = asyncio.ensure_future(self._upward(link))
        downward = asyncio.ensure_future(self._downward(link))
        await asyncio.wait({upward, downward}, return_when=asyncio.FIRST_COMPLETED)
        if self._at_end and self._waiting:
            await asyncio.wait({downward}, timeout=_FINISH_SEC)
        finished = self._at_end and not (self._waiting and downward.done())
        for task in (upward, downward):
            task.cancel()
        await asyncio.gather(upward, downward, return_exceptions=True)
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
                self._lines.write(line)
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
        # A call that was sent twice and never answered may be what ends the servers.
        for key in sorted((self._begun | self._repeated) & self._waiting.keys()):
            reason = _WHILE_WRITING if key in self._begun else _TWICE
            self._lines.write(_interrupted(self._waiting.pop(key), reason))
        self._begun.clear()
        link = await self._connect()
        opening = {_key(m["id"]) for m in map(_parse, self._handshake) if "id" in m}
        repeated = [line for key, line in self._waiting.items() if key not in opening]
        self._repeated = self._waiting.keys() - opening
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
        return _line({"id": request["id"], "error": {"code": _INTERNAL_ERROR, "message": reason}})
    error = CallInterrupted(reason, hints=["Look at the repository's state before you repeat the call."])
    body = {"error": error.to_wire(), "meta": {}}
    text = {"type": "text", "text": json.dumps(body)}
    result = {"content": [text], "structuredContent": body, "isError": True}
    return _line({"id": request["id"], "result": result})


def _too_large(beginning: bytes, limit: int) -> bytes:
    found = _ID.search(beginning[:1000])
    error = {"code": _INVALID_REQUEST, "message": f"The message is over {limit} bytes."}
    return _line({"id": json.loads(found.group(1)) if found else None, "error": error})


def _skip_line(stream: BinaryIO) -> None:
    while (rest := stream.readline(65536)) and not rest.endswith(b"\n"):
        pass


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
