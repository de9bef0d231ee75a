"""The server under test: the only module that knows how to build it and how to start it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import ASGIApp

from codeplane.config import Places
from codeplane.server.endpoint import endpoint
from codeplane.server.pipeline import Pipeline
from codeplane.server.profiles import profiles
from codeplane.server.transport.guard import GuardRules
from codeplane.server.transport.http import HttpApp
from codeplane.session import Checkout, RepoSession
from codeplane.storage import StateDir
from codeplane.tools import all_tools

# Both run in a git repository of their own.
STDIO_COMMAND = [sys.executable, "-m", "codeplane", "mcp", "--set", "server.port=0"]
HTTP_COMMAND = [sys.executable, "-m", "codeplane", "up", "--json", "--set", "server.port=0"]

# A tool of the server with arguments that it answers without an error.
TOOL = "describe"
TOOL_ARGUMENTS: dict[str, Any] = {"action": "repo"}


@dataclass(frozen=True)
class Endpoint:
    url: str
    token: str


@dataclass(frozen=True)
class Built:
    server: Server[Any]
    sessions: StreamableHTTPSessionManager
    app: ASGIApp
    running: Callable[[], AbstractAsyncContextManager[None]]


def started(first_line: str, repository: Path) -> Endpoint:
    """Where the server is that `HTTP_COMMAND` started in `repository` and that printed this."""
    return Endpoint(json.loads(first_line)["mcp"], StateDir.at(repository).token())


def build(repository: Path, port: int, token: str) -> Built:
    """The server of `repository` behind its guard, for 127.0.0.1:`port` and path /mcp."""
    checkout = Checkout.find(repository, Places.of_user())
    tools = all_tools()
    profile = profiles(tools)["standard"]
    pipeline = Pipeline(RepoSession.open(checkout), tools)
    server = endpoint(profile, pipeline)
    limits = checkout.settings.server
    rules = GuardRules(port, token, str(checkout.root), limits.max_body_bytes, limits.body_timeout_sec)
    app = HttpApp({profile.path: server}, rules, pipeline.telemetry, dict)
    return Built(server, app._managers[profile.path], app.asgi, app.running)
