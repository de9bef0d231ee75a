"""The local socket that `cpl mcp` and `cpl call` join: JSON-RPC lines, after one line of greeting.

Only this user can reach it: it lies in a directory of mode 0700. A relayed connection is served like
stdio. Before a call that writes starts, the relay says so in a line of its own, so that a client whose
server dies knows which calls it may repeat.
"""

import asyncio
import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import anyio
import anyio.to_thread
import mcp_types as wire
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel import Server
from mcp.server.runner import serve_dual_era_loop
from mcp.shared.message import SessionMessage

from codeplane import __version__
from codeplane.core.documents import decode_json
from codeplane.core.errors import CodePlaneError
from codeplane.server.endpoint import Origin, relay_origin
from codeplane.server.profiles import Profile
from codeplane.server.transport.link import BEGUN, GREETING, LEAVING, json_line, request_id_of
from codeplane.session import RepoSession

_log = logging.getLogger(__name__)

_GREETING_SEC: Final = 5
_FLUSH_SEC: Final = 1
_BAD_ID: Final = "The id of a request is a string or an integer."

Incoming = MemoryObjectSendStream[SessionMessage | Exception]
Outgoing = MemoryObjectReceiveStream[SessionMessage]


class Relay:
    """Listens on the socket and serves each connection with the endpoint of its profile."""

    def __init__(
        self,
        profiles: Mapping[str, Profile],
        endpoints: Mapping[str, "Server[Origin]"],
        repo: RepoSession,
        max_line: int,
    ) -> None:
        self._repo = repo
        self._state = str(repo.state.path)
        self._profiles = profiles
        self._endpoints = endpoints
        self._sessions = repo.sessions
        self._max_line = max_line
        self._server: asyncio.Server | None = None
        self._closed = asyncio.Event()
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def listen(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        self._server = await asyncio.start_unix_server(self._accept, path, limit=self._max_line)
        path.chmod(0o600)

    async def close(self) -> None:
        """Ends every connection. A request that is still open stays unanswered: its client moves it on."""
        if self._closed.is_set():
            return
        self._closed.set()
        if self._server is not None:
            self._server.close()
        for task, writer in self._connections.items():
            writer.write(json_line({"method": LEAVING}))
            task.cancel()
        if self._connections:
            await asyncio.wait(list(self._connections), timeout=2 * _FLUSH_SEC)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections[task] = writer
        try:
            await self._serve(reader, writer)
        except asyncio.CancelledError:
            _log.debug("relay connection ended by shutdown")
        except BaseException as error:
            if not _is_disconnect(error):
                raise
            _log.debug("relay connection lost")
        finally:
            del self._connections[task]
            await _hang_up(writer)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # What is drained has reached the kernel: it arrives even if this process is killed.
        writer.transport.set_write_buffer_limits(0)
        welcome = await self._greet(reader, writer)
        if welcome is None:
            return
        profile, workspace = welcome

        async def mark_begun(request_id: Any) -> None:
            await _send(writer, {"jsonrpc": "2.0", "method": BEGUN, "params": {"id": request_id}})

        origin = relay_origin(mark_begun, workspace)
        to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](0)
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(_read_lines, reader, writer, to_server)
                group.start_soon(self._write_lines, writer, from_server)
                await serve_dual_era_loop(
                    self._endpoints[profile.path], incoming, outgoing, lifespan_state=origin
                )
                group.cancel_scope.cancel()
        finally:
            self._sessions.close(f"relay:{origin.session_id}")

    async def _write_lines(self, writer: asyncio.StreamWriter, from_server: Outgoing) -> None:
        async with from_server:
            async for envelope in from_server:
                if self._closed.is_set():
                    return
                line = envelope.message.model_dump_json(by_alias=True, exclude_unset=True)
                writer.write(line.encode() + b"\n")
                await writer.drain()

    def _name_of(self, workspace: str) -> str | None:
        """The name of a workspace by name or directory; None where there is no such one."""
        # Loaded by the first client that works in one.
        from codeplane.session.workspaces.registry import workspaces_of

        try:
            return workspaces_of(self._repo).find(workspace).id
        except CodePlaneError as error:
            _log.info("no such workspace", extra={"error": error.name()})
            return None

    async def _greet(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> tuple[Profile, str | None] | None:
        """The profile and the workspace that a client asks for; None where it is not of this repository."""
        async with asyncio.timeout(_GREETING_SEC):
            line = await reader.readline()
        try:
            greeting = decode_json(line)[GREETING]
            profile, workspace = self._profiles[greeting["profile"]], greeting.get("workspace")
        except (ValueError, KeyError, TypeError):
            return None
        # A repository may ship a file that points here; it gets no answer about another one.
        if greeting.get("state") != self._state or not isinstance(workspace, str | None):
            return None
        name = await anyio.to_thread.run_sync(self._name_of, workspace) if workspace is not None else None
        if workspace is not None and name is None:
            return None
        answer = {"version": __version__, "profile": profile.name}
        answer |= {"workspace": workspace} if workspace is not None else {}
        await _send(writer, {GREETING: answer})
        return profile, name


async def _read_lines(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, to_server: Incoming
) -> None:
    async with to_server:
        while True:
            try:
                line = await reader.readline()
            except ValueError:
                await _send(writer, _failure(None, wire.INVALID_REQUEST, "The message is too large."))
                return
            if not line:
                return
            try:
                message = wire.jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                failure = _failure(request_id_of(line), wire.PARSE_ERROR, "Not a JSON-RPC message.")
                await _send(writer, failure)
                continue
            if isinstance(message, wire.JSONRPCNotification) and "id" in (request := decode_json(line)):
                # Taken for a notification, it would be waited for in vain.
                await _send(writer, _failure(_echoed(request["id"]), wire.INVALID_REQUEST, _BAD_ID))
                continue
            try:
                await to_server.send(SessionMessage(message))
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                return


async def _send(writer: asyncio.StreamWriter, message: Mapping[str, Any]) -> None:
    writer.write(json.dumps(message).encode() + b"\n")
    await writer.drain()


def _echoed(request_id: Any) -> Any:
    """An odd id as it may be sent back: Python reads NaN, and would write it, but it is no JSON."""
    try:
        json.dumps(request_id, allow_nan=False)
    except ValueError:
        return None
    return request_id


def _failure(request_id: object, code: int, text: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": text}}


async def _hang_up(writer: asyncio.StreamWriter) -> None:
    """Closes a connection; a client that does not read what is left is cut off."""
    writer.close()
    try:
        async with asyncio.timeout(_FLUSH_SEC):
            await writer.wait_closed()
    except (OSError, TimeoutError, asyncio.CancelledError):
        writer.transport.abort()


def _is_disconnect(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(_is_disconnect(part) for part in error.exceptions)
    return isinstance(error, ConnectionError | TimeoutError)
