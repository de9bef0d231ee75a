"""A running server: what it starts, in which order, and how it stops."""

import asyncio
import logging
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from codeplane import __version__
from codeplane.config import Places
from codeplane.core.errors import CodePlaneError, InternalError, PortUnavailable
from codeplane.index import Progress
from codeplane.ledger.summary import accounts
from codeplane.server.endpoint import endpoint
from codeplane.server.logs import close_logs, set_up_logs
from codeplane.server.pipeline import Pipeline
from codeplane.server.profiles import profiles
from codeplane.server.rest import Rest
from codeplane.server.rest_controller import ControllerRest
from codeplane.server.transport.guard import GuardRules
from codeplane.server.transport.http import HttpApp
from codeplane.server.transport.link import socket_path
from codeplane.server.transport.relay import Relay
from codeplane.session import Checkout, RepoSession
from codeplane.storage import ServerLock, Serving, private_dir
from codeplane.tools import offered_tools

_log = logging.getLogger(__name__)

_HEAD_SEC = 10
_MOST_CONNECTIONS = 512
_MOST_HEADLESS = 128


class Runtime:
    """One server for one repository. The lock is its own from the start and is released at the end."""

    def __init__(
        self,
        checkout: Checkout,
        places: Places,
        lock: ServerLock,
        command: str,
        progress: Progress | None = None,
    ) -> None:
        self._progress = progress
        self._checkout = checkout
        self._places = places
        self._lock = lock
        self._command = command
        self._settings = checkout.settings.server
        self.stop = asyncio.Event()
        self.is_to_begin_anew = False

    async def run(self, started: Callable[[Serving], None]) -> None:
        """Serves until `stop` is set; then everything that was opened is closed again."""
        # Processes are started from where this one is, and the directory that it was started in may go.
        os.chdir("/")
        try:
            repo = RepoSession.open(self._checkout)
            try:
                await self._serve(repo, started)
            except BaseExceptionGroup as group:
                raise _only_leaf(group) from group
            finally:
                if self._lock.holds():
                    repo.state.retract()
                await asyncio.to_thread(repo.close)
                close_logs()
        finally:
            self._lock.release()

    async def _serve(self, repo: RepoSession, started: Callable[[Serving], None]) -> None:
        with self._listening() as listener:
            token = repo.state.new_token()
            set_up_logs(self._checkout.settings.logging, repo.state.log_file, token)
            tools = offered_tools(self._checkout.settings)
            pipeline = Pipeline(repo, tools, lambda: self._may_serve(repo))
            profiles_by_name = profiles(tools)
            endpoints = {p.path: endpoint(p, pipeline) for p in profiles_by_name.values()}
            relay = Relay(profiles_by_name, endpoints, repo, self._settings.max_body_bytes)
            serving = self._announcement(repo, listener)
            app = HttpApp(
                endpoints,
                self._guard_rules(repo, serving, token),
                pipeline.telemetry,
                lambda: _status(repo, pipeline, serving),
                self._settings.session_idle_sec,
                [
                    *Rest(repo, pipeline).routes(tools.values()),
                    *ControllerRest(repo, pipeline).routes(tools.values()),
                ],
            )
            try:
                private_dir(self._places.runtime_dir)
                await relay.listen(Path(serving.socket))
                async with AsyncExitStack() as stack:
                    await stack.enter_async_context(app.running())
                    web = _Web(app, listener)
                    await web.start()
                    repo.state.publish(serving)
                    _log.info("server started", extra={"url": serving.url, "pid": serving.pid})
                    for notice in self._checkout.notices:
                        _log.warning("%s", notice)
                    started(serving)
                    repo.upkeep.start(self._progress)
                    _refresh_on_idle(repo)
                    await self._wait(web)
                    await self._wind_down(app, pipeline, relay, web)
            finally:
                await relay.close()
                if self._lock.holds():
                    Path(serving.socket).unlink(missing_ok=True)
            _log.info("server stopped")

    def _may_serve(self, repo: RepoSession) -> bool:
        """Asked before each call. Without its directory a server has no journal and no record, and another
        may serve already: this one ends, and takes nothing away that the other has put there. With an index
        that is damaged it ends so that the next start makes it anew."""
        if repo.index.is_damaged:
            if not self.stop.is_set():
                _log.warning("the index is damaged: the server restarts")
            self.is_to_begin_anew = True
            self.stop.set()
            return False
        if self._lock.holds() or not os.access(self._checkout.root, os.X_OK):
            repo.heed_trust()
            return True  # nobody can serve a repository that is gone or closed, and each call says so
        if not self.stop.is_set():
            _log.warning("the state directory was removed: the server stops")
        self.stop.set()
        return False

    async def _wait(self, web: "_Web") -> None:
        waiting = asyncio.ensure_future(self.stop.wait())
        await asyncio.wait({waiting, web.task}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if web.task.done() and not self.stop.is_set():
            raise InternalError("The HTTP server stopped unexpectedly; the log has the details.")

    async def _wind_down(self, app: HttpApp, pipeline: Pipeline, relay: Relay, web: "_Web") -> None:
        _log.info("server stopping")
        await app.streams.end("GET")
        await pipeline.stop(self._settings.shutdown_timeout_sec)
        # The last answers are on their way through the transports.
        await asyncio.sleep(0.05)
        await app.streams.end()
        await relay.close()
        await web.close()

    def _listening(self) -> socket.socket:
        """A server that clients reach over stdio takes any port when the configured one is in use."""
        try:
            return _bind(self._settings.port)
        except PortUnavailable as error:
            if self._command == "cpl up":
                raise
            _log.warning("%s Taking another.", error.message)
            return _bind(0)

    def _announcement(self, repo: RepoSession, listener: socket.socket) -> Serving:
        path = socket_path(self._places.runtime_dir, repo.state.path)
        return Serving(
            pid=os.getpid(),
            port=listener.getsockname()[1],
            socket=str(path),
            started_ms=int(time.time() * 1000),
            command=self._command,
        )

    def _guard_rules(self, repo: RepoSession, serving: Serving, token: str) -> GuardRules:
        return GuardRules(
            port=serving.port,
            token=token,
            repo_root=str(repo.checkout.root),
            max_body_bytes=self._settings.max_body_bytes,
            body_timeout_sec=self._settings.body_timeout_sec,
        )


def _refresh_on_idle(repo: RepoSession) -> None:
    settings = repo.checkout.settings.semantic
    if settings.enabled and settings.refresh_on_idle:
        # Most servers have no need of what runs indexers.
        from codeplane.session.semantic.background import BackgroundRefresh

        background = BackgroundRefresh(repo)
        background.start()
        repo.background = background


def _only_leaf(error: BaseException) -> BaseException:
    """The one error inside nested groups, which task groups wrap around whatever ends them."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


class _Web:
    """Uvicorn, told when to start and stop; signals stay with the command line."""

    def __init__(self, app: HttpApp, listener: socket.socket) -> None:
        self._listener = listener
        config = uvicorn.Config(
            app.asgi,
            log_config=None,
            access_log=False,
            lifespan="off",
            loop="asyncio",
            http=_Http,
            ws="none",
            server_header=False,
            timeout_graceful_shutdown=1,
            limit_concurrency=_MOST_CONNECTIONS,
        )
        self._server = _Uvicorn(config)

    async def start(self) -> None:
        self.task = asyncio.ensure_future(self._server.serve(sockets=[self._listener]))
        while not self._server.started and not self.task.done():
            await asyncio.sleep(0.005)

    async def close(self) -> None:
        self._server.should_exit = True
        await asyncio.wait({self.task})


class _Http(H11Protocol):
    """A connection that does not send a request head in time is closed: it costs a place without a token."""

    waiting: ClassVar[dict["_Http", None]] = {}  # for their first request, the oldest first

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.loop.call_later(_HEAD_SEC, self.drop_headless)
        self.waiting[self] = None
        # Those that say nothing must not take the places of those that do.
        if len(self.waiting) > _MOST_HEADLESS:
            next(iter(self.waiting)).drop_headless()

    def connection_lost(self, exc: Exception | None) -> None:
        self.waiting.pop(self, None)
        super().connection_lost(exc)

    def drop_headless(self) -> None:
        """Closes the connection unless it has sent the head of a request."""
        self.waiting.pop(self, None)
        if self.cycle is None and not self.transport.is_closing():
            self.transport.close()


class _Uvicorn(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _bind(port: int) -> socket.socket:
    # With the protocol named, asyncio sends small answers at once instead of waiting for an ACK (40 ms).
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as error:
        listener.close()
        raise PortUnavailable(
            f"Port {port} cannot be used: {(error.strerror or str(error)).lower()}.",
            hints=["cpl up --set server.port=0 takes a free one"],
            port=port,
        ) from error
    return listener


def _status(repo: RepoSession, pipeline: Pipeline, serving: Serving) -> dict[str, Any]:
    with suppress(CodePlaneError):  # a call says what is wrong; the status is shown all the same
        repo.heed_trust()
    report = repo.status().model_dump(exclude_none=True)
    server: dict[str, Any] = {
        "version": __version__,
        "pid": serving.pid,
        "url": serving.url,
        "command": serving.command,
        "uptime_sec": round(repo.uptime_sec(), 1),
        "sessions": len(repo.sessions),
        "tokens": repo.token_savings.report(),
    }
    if pipeline.telemetry.last_error is not None:
        server["last_error"] = pipeline.telemetry.last_error
    return {**report, **accounts(repo.ledger, repo.tasks.on_record()), "server": server}
