"""The process's own stdin and stdout as lines, without ever blocking the event loop.

A client may stop reading or stop sending; both sides are threads with bounded room, so that neither holds
up the server that may run in the same process.
"""

import asyncio
import os
import queue
import sys
import threading
from contextlib import suppress
from typing import BinaryIO, Final

from codeplane.server.transport.link import INVALID_REQUEST, json_line, request_id_of

_MOST_LINES: Final = 64
_MOST_BYTES: Final = 4_000_000


class ClientGone(Exception):
    """The client reads no more."""


class StdioLines:
    """Takes stdin and stdout away from everything else that runs in the process."""

    def __init__(self, max_line: int) -> None:
        self._max_line = max_line
        self._in = os.fdopen(os.dup(0), "rb")
        self._out = os.fdopen(os.dup(1), "wb")
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        self._arrived: asyncio.Queue[bytes] = asyncio.Queue()
        self._room = threading.Semaphore(_MOST_LINES)
        self._leaving: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._pending = 0
        self._written = asyncio.Event()
        self.gone = asyncio.Event()

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        for name, work in (("stdin", self._read_all), ("stdout", self._write_all)):
            threading.Thread(target=work, name=name, daemon=True).start()

    async def next(self) -> bytes:
        """The next line; empty at the end."""
        line = await self._arrived.get()
        self._room.release()
        return line

    async def write(self, line: bytes) -> None:
        """Hands a line to the client; waits while too much is on its way."""
        self._put(line)
        while self._pending > _MOST_BYTES and not self.gone.is_set():
            self._written.clear()
            await self._written.wait()
        if self.gone.is_set():
            raise ClientGone

    async def flush(self, seconds: float) -> None:
        """Waits that long at the most for what is on its way."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._pending and not self.gone.is_set():
                    self._written.clear()
                    await self._written.wait()

    def _put(self, line: bytes) -> None:
        self._pending += len(line)
        self._leaving.put(line)

    def _read_all(self) -> None:
        try:
            while line := self._in.readline(self._max_line):
                if not line.endswith(b"\n") and len(line) == self._max_line:
                    _skip_line(self._in)
                    self._tell(self._put, _too_large(line, self._max_line))
                elif line.strip():
                    self._room.acquire()
                    self._tell(self._arrived.put_nowait, line.rstrip(b"\n") + b"\n")
        except OSError:
            pass  # a terminal that is gone ends like a pipe that is closed
        finally:
            self._tell(self._arrived.put_nowait, b"")

    def _write_all(self) -> None:
        while True:
            line = self._leaving.get()
            try:
                self._out.write(line)
                self._out.flush()
            except OSError:
                self._tell(self.gone.set)
                self._tell(self._written.set)
                return
            self._tell(self._note_written, len(line))

    def _note_written(self, count: int) -> None:
        self._pending -= count
        self._written.set()

    def _tell(self, function: object, *arguments: object) -> None:
        with suppress(RuntimeError):  # the loop has ended and needs to know nothing any more
            self._loop.call_soon_threadsafe(function, *arguments)  # type: ignore[arg-type]


def _too_large(beginning: bytes, limit: int) -> bytes:
    error = {"code": INVALID_REQUEST, "message": f"The message is over {limit} bytes."}
    return json_line({"id": request_id_of(beginning), "error": error})


def _skip_line(stream: BinaryIO) -> None:
    while (rest := stream.readline(65536)) and not rest.endswith(b"\n"):
        pass
