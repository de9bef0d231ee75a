"""Serves the server under test with the conformance profile, on a port of the system's choice.

Takes the repository to serve. The first line on standard output is the URL of the endpoint.
"""

from __future__ import annotations

import secrets
import socket
import sys
import warnings
from pathlib import Path

import anyio
import uvicorn
from mcp.shared.exceptions import MCPDeprecationWarning
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.conformance.base import build
from tests.conformance.fixture import install, make_resumable


def authorized(app: ASGIApp, token: str) -> ASGIApp:
    """Adds the token to each request, since the conformance clients cannot send one."""
    header = (b"authorization", f"Bearer {token}".encode())

    async def add_token(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, "headers": [*scope["headers"], header]}, receive, send)

    return add_token


async def serve(repository: Path) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    port: int = listener.getsockname()[1]
    token = secrets.token_hex(16)
    built = build(repository, port, token)
    install(built.server)
    make_resumable(built.sessions)
    print(f"http://127.0.0.1:{port}/mcp", flush=True)
    config = uvicorn.Config(
        authorized(built.app, token),
        lifespan="off",
        log_level="warning",
        timeout_graceful_shutdown=1,
    )
    async with built.running():
        await uvicorn.Server(config).serve(sockets=[listener])


if __name__ == "__main__":
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    anyio.run(serve, Path(sys.argv[1]))
