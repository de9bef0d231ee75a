"""The official conformance suites pass against the server with the conformance profile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, types

from tests.conformance import base, node
from tests.conformance.fixture import TOOL_NAMES
from tests.conformance.suite import FIRST, HANDSHAKE, PACKAGE, SUITES, Cli, Suite, expected_failures

ERAS = ["legacy", "2026-07-28"]


def cli(suite: Suite) -> Cli:
    return Cli(package=node.required(PACKAGE, suite.release), node=node.node())


@pytest.mark.parametrize("suite", SUITES, ids=str)
def test_every_scenario_passes_or_is_expected_to_fail(suite: Suite, profile_url: str, tmp_path: Path) -> None:
    expected = expected_failures(suite.expected)
    report = cli(suite).run(suite, profile_url, tmp_path)
    assert report.exit_code == 0, str(report)
    assert report.hollow <= expected.keys(), "a scenario checked nothing"
    assert report.scenarios >= cli(HANDSHAKE).required(suite.protocol), "a required one is missing"
    assert report.scenarios >= {entry.partition(":")[0] for entry in expected}
    assert all(expected.values()), "an expected failure has no reason"


@pytest.mark.parametrize("suite", [FIRST, HANDSHAKE], ids=str)
def test_an_expected_failure_that_passes_is_stale(suite: Suite, profile_url: str, tmp_path: Path) -> None:
    baseline = tmp_path / "expected.yml"
    baseline.write_text("server:\n  - ping\n", encoding="utf-8")
    done = cli(suite).run_one("ping", profile_url, baseline)
    assert done.returncode == 1
    assert "Stale baseline entries" in done.stdout


@pytest.mark.parametrize("mode", ERAS)
def test_the_profile_adds_its_tools_to_those_of_the_server(profile_url: str, mode: str) -> None:
    async def names() -> set[str]:
        async with Client(profile_url, mode=mode) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    assert anyio.run(names) >= TOOL_NAMES | {base.TOOL}


@pytest.mark.parametrize("mode", ERAS)
def test_profile_tools_answer_themselves(profile_url: str, mode: str) -> None:
    """The suites take any text for an answer, an "unknown tool" too."""
    said = call(profile_url, mode, "test_simple_text")
    assert said.content == [types.TextContent(text="This is a simple text response for testing.")]
    assert not said.is_error
    failed = call(profile_url, mode, "test_error_handling")
    message = "This tool intentionally returns an error for testing"
    assert failed.content == [types.TextContent(text=message)]
    assert failed.is_error


@pytest.mark.parametrize("mode", ERAS)
def test_other_tools_reach_the_server(profile_url: str, mode: str) -> None:
    result = call(profile_url, mode, base.TOOL, base.TOOL_ARGUMENTS)
    assert not result.is_error
    assert isinstance(result.content[0], types.TextContent) and result.content[0].text


def call(url: str, mode: str, name: str, arguments: dict[str, Any] | None = None) -> types.CallToolResult:
    async def once() -> types.CallToolResult:
        async with Client(url, mode=mode) as client:
            return await client.call_tool(name, arguments)

    return anyio.run(once)
