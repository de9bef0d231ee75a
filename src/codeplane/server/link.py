"""The client's side of the relay socket. Imports nothing heavy: joining a server has to be quick."""

import asyncio
import hashlib
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from codeplane.core.errors import NotServing
from codeplane.storage import StateDir

GREETING: Final = "codeplane"
BEGUN: Final = "codeplane/begun"
LEAVING: Final = "codeplane/leaving"
INVALID_REQUEST: Final = -32600
INTERNAL_ERROR: Final = -32603
MAX_LINE: Final = 268_435_456
PROFILE_NAMES: Final = ("standard", "full", "read")

_ANSWER_SEC: Final = 10


_ID: Final = re.compile(rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{0,200}")')


def socket_path(runtime_dir: Path, state_dir: Path) -> Path:
    """A short path, whatever the length of the repository's: socket addresses hold about 100 bytes."""
    return runtime_dir / f"{hashlib.sha256(str(state_dir).encode()).hexdigest()[:16]}.sock"


def request_id_of(line: bytes) -> Any:
    """The id of a request that cannot be read as a whole; None when it cannot be made out."""
    found = _ID.search(line[:1000])
    try:
        return json.loads(found.group(1)) if found else None
    except ValueError:
        return None


def json_line(message: Mapping[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


@dataclass(frozen=True)
class Link:
    """A greeted connection to the server of a repository."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    version: str

    async def send(self, line: bytes) -> None:
        self.writer.write(line)
        await self.writer.drain()

    async def close(self) -> None:
        self.writer.close()
        with suppress(ConnectionError):
            await self.writer.wait_closed()


async def join(state: StateDir, profile: str) -> Link:
    """Connects to the running server of this very repository; `NotServing` when none answers."""
    serving = state.serving()
    if serving is None:
        raise NotServing(f"No server runs for {state.path.parent}.", hints=["cpl up"])
    try:
        async with asyncio.timeout(_ANSWER_SEC):
            return await _connect(serving.socket, state, profile)
    except (OSError, ValueError, KeyError, TimeoutError) as error:
        raise NotServing(
            f"The server of {state.path.parent} (pid {serving.pid}) does not answer.",
            hints=["cpl up"],
        ) from error


async def _connect(socket: str, state: StateDir, profile: str) -> Link:
    if Path(socket).stat().st_uid != os.getuid():
        raise PermissionError(f"{socket} belongs to another user")
    reader, writer = await asyncio.open_unix_connection(socket, limit=MAX_LINE)
    try:
        writer.write(json.dumps({GREETING: {"state": str(state.path), "profile": profile}}).encode() + b"\n")
        await writer.drain()
        greeting: dict[str, Any] = json.loads(await reader.readline())[GREETING]
        return Link(reader, writer, greeting["version"])
    except BaseException:
        writer.close()
        raise
