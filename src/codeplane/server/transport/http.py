"""The HTTP application: operator routes and one MCP endpoint for each profile, all behind the guard."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from codeplane.core.errors import CodePlaneError, NotFound, RequestRefused
from codeplane.server.endpoint import Origin
from codeplane.server.telemetry import Telemetry
from codeplane.server.transport.guard import Guard, GuardRules
from codeplane.server.transport.streams import Streams

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import ASGIApp

_MOST_SESSIONS = 1000

Endpoints = Mapping[str, "Server[Origin]"]


class HttpApp:
    """The application and the life of its MCP sessions."""

    def __init__(
        self,
        endpoints: Endpoints,
        rules: GuardRules,
        telemetry: Telemetry,
        status: Callable[[], dict[str, Any]],
        session_idle_sec: float = 1800,
        more: Sequence[BaseRoute] = (),
    ) -> None:
        self._managers = {
            path: StreamableHTTPSessionManager(
                server,
                max_request_body_size=rules.max_body_bytes,
                session_idle_timeout=session_idle_sec,
                max_sessions=_MOST_SESSIONS,
            )
            for path, server in endpoints.items()
        }
        self.routes: list[BaseRoute] = [
            Route("/health", _always({"status": "ok"})),
            Route("/ready", _readiness(status)),
            Route("/status", _reporting(status)),
            Route("/metrics", _metrics(telemetry)),
            *more,
        ]
        self.routes += [
            Route(path, StreamableHTTPASGIApp(manager)) for path, manager in self._managers.items()
        ]
        self.streams = Streams(
            Starlette(routes=self.routes, exception_handlers={HTTPException: _refuse_response})
        )
        self.asgi: ASGIApp = Guard(self.streams, rules)

    @asynccontextmanager
    async def running(self) -> "AsyncIterator[None]":
        """MCP sessions live inside this block."""
        async with AsyncExitStack() as stack:
            for manager in self._managers.values():
                await stack.enter_async_context(manager.run())
            yield


async def _refuse_response(request: Request, error: Exception) -> Response:
    """What the router refuses, in the one shape of an error."""
    assert isinstance(error, HTTPException), "BUG: the handler is for this class alone"
    report: CodePlaneError = RequestRefused(f"{request.url.path}: {error.detail}.", status=error.status_code)
    if error.status_code == HTTPStatus.NOT_FOUND:
        report = NotFound(f"There is nothing at {request.url.path}.", hints=["/mcp", "/status"])
    return JSONResponse({"error": report.to_wire()}, error.status_code, error.headers)


def _always(body: dict[str, str]) -> Callable[[Request], Any]:
    async def answer(_request: Request) -> Response:
        return JSONResponse(body)

    return answer


def _readiness(status: Callable[[], dict[str, Any]]) -> Callable[[Request], Any]:
    async def answer(_request: Request) -> Response:
        index = (await asyncio.to_thread(status))["index_status"]
        return JSONResponse({"status": index}, status_code=200 if index == "ready" else 503)

    return answer


def _reporting(status: Callable[[], dict[str, Any]]) -> Callable[[Request], Any]:
    async def answer(_request: Request) -> Response:
        return JSONResponse(await asyncio.to_thread(status))

    return answer


def _metrics(telemetry: Telemetry) -> Callable[[Request], Any]:
    async def answer(_request: Request) -> Response:
        return Response(telemetry.render(), media_type="text/plain; version=0.0.4; charset=utf-8")

    return answer
