"""The MCP Inspector's command line lists and calls the server's tools."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conformance import base, node
from tests.conformance.conftest import isolated

PACKAGE = "@modelcontextprotocol/inspector"
VERSION = "2.12.0"
RUN_SECONDS = 60

Inspect = Callable[..., dict[str, Any]]


@pytest.fixture(params=["legacy", "modern"])
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["stdio", "http"])
def target(request: pytest.FixtureRequest) -> list[str]:
    """The arguments that name the server and how to reach it."""
    if request.param == "http":
        endpoint: base.Endpoint = request.getfixturevalue("endpoint")
        header = f"Authorization: Bearer {endpoint.token}"
        return [endpoint.url, "--header", header, "--stored-auth-only"]
    repository: Path = request.getfixturevalue("repository")
    return [*base.STDIO_COMMAND, "--cwd", str(repository)]


@pytest.fixture
def inspect(target: list[str], era: str, home: Path) -> Inspect:
    """Runs the Inspector and returns the JSON it prints."""
    launcher = node.required(PACKAGE, VERSION) / "clients" / "launcher" / "build" / "index.js"
    common = ["--cli", *target, "--protocol-era", era, "--format", "json"]

    def run(*arguments: str) -> dict[str, Any]:
        done = subprocess.run(
            [node.node(), launcher, *common, *arguments],
            env=isolated(home),
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
        )
        assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        printed: dict[str, Any] = json.loads(done.stdout)
        return printed

    return run


def test_tools_are_listed_without_a_schema_finding(inspect: Inspect) -> None:
    printed = inspect("--method", "tools/list", "--strict")
    assert base.TOOL in {tool["name"] for tool in printed["result"]["tools"]}
    assert "schemaFindings" not in printed, json.dumps(printed["schemaFindings"], indent=2)


def test_a_tool_is_called(inspect: Inspect) -> None:
    arguments = json.dumps(base.TOOL_ARGUMENTS)
    printed = inspect("--method", "tools/call", "--tool-name", base.TOOL, "--tool-args-json", arguments)
    assert printed["result"]["content"][0]["text"]
