"""The client's side of the relay socket. Imports nothing heavy: joining a server has to be quick."""

import asyncio
import hashlib
import json
import os
import re
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from codeplane.core.documents import decode_json
from codeplane.core.errors import CallInterrupted, NotServing
from codeplane.storage import StateDir

GREETING: Final = "codeplane"
SESSION_META_KEY: Final = "codeplane/session"
STRUCTURED_META_KEY: Final = "codeplane/structured"
SINGLE_META_KEY: Final = "codeplane/single"
BEGUN: Final = "codeplane/begun"
LEAVING: Final = "codeplane/leaving"
INVALID_REQUEST: Final = -32600
INTERNAL_ERROR: Final = -32603
WHILE_WRITING: Final = "The server ended while this call was writing; it is unknown whether it took effect."
MAX_LINE: Final = 268_435_456
PROFILE_NAMES: Final = ("standard", "full", "read", "controller")

_ANSWER_SEC: Final = 10
_CHUNK: Final = 262_144
_ID: Final = re.compile(rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{0,200}")')


def socket_path(runtime_dir: Path, state_dir: Path) -> Path:
    """A short path, whatever the length of the repository's: socket addresses hold about 100 bytes."""
    return runtime_dir / f"{hashlib.sha256(str(state_dir).encode()).hexdigest()[:16]}.sock"


def request_id_of(line: bytes) -> Any:
    """The id of a request that cannot be read as a whole; None when it cannot be made out."""
    result = _ID.search(line[:1000])
    try:
        return decode_json(result.group(1)) if result else None
    except ValueError:
        return None


def json_line(message: Mapping[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def interrupted(reason: str) -> CallInterrupted:
    return CallInterrupted(reason, hints=["Check the repository's state before you repeat the call."])


class Link:
    """A connection to the server of a repository.

    Its two directions fail apart: what the server said before it ended can be read after a `send` has
    found it gone. A stream of asyncio drops it then, and with it that a write has begun.
    """

    def __init__(self, stream: socket.socket) -> None:
        self._socket = stream
        self._read = bytearray()
        self.version = ""

    async def send(self, line: bytes) -> None:
        await asyncio.get_running_loop().sock_sendall(self._socket, line)

    async def line(self) -> bytes:
        """The next line of the server; empty when it has ended."""
        loop, count = asyncio.get_running_loop(), 0
        while (end := self._read.find(b"\n", count) + 1) == 0:
            count = len(self._read)
            try:
                more = await loop.sock_recv(self._socket, _CHUNK)
            except ConnectionError:
                return b""
            if not more or count > MAX_LINE:
                return b""
            self._read += more
        line = bytes(self._read[:end])
        del self._read[:end]
        return line

    def close(self) -> None:
        self._socket.close()


async def join(state: StateDir, profile: str, workspace: str | None = None) -> Link:
    """Connects to the running server of this very repository; `NotServing` when none answers.

    With the name or the directory of a workspace, all calls of the link are about that one.
    """
    serving = state.serving()
    # A server holds the lock from before it announces itself: without a holder, the file is a dead server's
    # or the repository's own, and whatever it names is not waited for.
    if serving is None or not state.lock().is_taken():
        raise NotServing(f"No server is running for {state.path.parent}.", hints=["cpl up"])
    try:
        async with asyncio.timeout(_ANSWER_SEC):
            return await _connect(serving.socket, state, profile, workspace)
    except (OSError, ValueError, KeyError, TypeError, TimeoutError) as error:
        raise NotServing(
            f"The server of {state.path.parent} (pid {serving.pid}) is not answering.",
            hints=["cpl up"],
        ) from error


async def _connect(path: str, state: StateDir, profile: str, workspace: str | None) -> Link:
    if Path(path).stat().st_uid != os.getuid():
        raise PermissionError(f"{path} belongs to another user")
    stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    link = Link(stream)
    try:
        stream.setblocking(False)
        await asyncio.get_running_loop().sock_connect(stream, path)
        greeting = {"state": str(state.path), "profile": profile}
        greeting |= {"workspace": workspace} if workspace is not None else {}
        await link.send(json.dumps({GREETING: greeting}).encode() + b"\n")
        answer = decode_json(await link.line())[GREETING]
        # A server that doesn't know workspaces would change the wrong files.
        if answer.get("workspace") != workspace:
            raise ValueError(f"the server serves {answer.get('workspace')}, not {workspace}")
        link.version = answer["version"]
    except BaseException:
        link.close()
        raise
    return link
