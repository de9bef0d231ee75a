"""Renames that rest on an indexer, over HTTP and MCP: blocked once its facts do not hold, with the way on."""

import http.client
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.drive import Cpl, Server, Stdio, new_repo, user_env
from tests.tools.repo import trust
from tests.zygote import PATIENCE

TOY = Path(__file__).parents[1] / "semantic" / "toys" / "indexer.py"
APP = "def go(thing):\n    thing.run()\n"
FILES = {
    "pyproject.toml": "",
    "tool.py": "class Tool:\n    def run(self):\n        return 1\n",
    "app.py": APP,
}
RENAME = {"symbol": "tool.Tool.run", "new_name": "walk"}
SCOPE = {"files": ["app.py"]}


@pytest.fixture
def repo(tmp_path: Path) -> Cpl:
    """A trusted repository whose user has configured the toy indexer."""
    root = new_repo(tmp_path / "repo", FILES)
    trust(root, tmp_path)
    config = tmp_path / "home" / ".config" / "codeplane" / "config.yaml"
    config.parent.mkdir(parents=True, exist_ok=True)
    cmd = json.dumps([Path(sys.executable).name, str(TOY), "good", "{output}"])
    config.write_text(
        f"semantic: {{custom: [{{name: toy, languages: [python], inputs: [toy.cfg], cmd: {cmd}}}]}}\n"
    )
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return Cpl(root, {**user_env(tmp_path / "home"), "PATH": path})


@pytest.fixture
def server(repo: Cpl) -> Iterator[Server]:
    with repo.up() as running:
        yield running


@pytest.fixture
def client(repo: Cpl, server: Server) -> Iterator[Stdio]:
    """A client of the running server; the indexer has read the repository once."""
    with repo.mcp("--profile", "full") as pipes:
        client = pipes.open()
        assert "completed" in call(client, "semantic_refresh")["content"][0]["text"]
        yield client


def call(client: Stdio, tool: str, arguments: dict[str, Any] | None = None) -> dict[str, Any]:
    meta = {"codeplane/structured": True}
    params = {"name": tool, "arguments": arguments or {}, "_meta": meta}
    result: dict[str, Any] = client.request("tools/call", params)["result"]
    assert not result.get("isError"), result
    return result


def post(server: Server, path: str, body: object) -> dict[str, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    connection.request("POST", path, json.dumps(body), server.headers)
    response = connection.getresponse()
    answer: dict[str, Any] = json.loads(response.read())
    connection.close()
    assert response.status == 200, answer
    return answer


def test_stale_facts_block_over_http_until_the_suggested_scope_is_refreshed(
    repo: Cpl, server: Server, client: Stdio
) -> None:
    (repo.repo / "toy.cfg").write_text("strict = true\n")
    plan = post(server, "/refactor/rename", RENAME)
    assert (plan["status"], plan["reason"]) == ("blocked", "semantic_not_fresh")
    assert (plan["suggested_refresh_scope"], plan["can_force_syntactic"]) == (SCOPE, True)
    assert "app.py are stale: toy.cfg" in plan["problems"][0]
    assert {"files_not_clean", "semantic_not_fresh"} <= set(plan["witness"]["invariants_failed"])
    assert (repo.repo / "app.py").read_text() == APP
    call(client, "semantic_refresh", plan["suggested_refresh_scope"])
    done = post(server, "/refactor/rename", RENAME)
    assert done["status"] == "ok", done
    assert (repo.repo / "app.py").read_text() == APP.replace("run", "walk")


def test_dirty_facts_block_over_mcp_until_the_offered_call_is_made(repo: Cpl, client: Stdio) -> None:
    (repo.repo / "app.py").write_text(APP + "\n\nlate = 1\n")
    answer = call(client, "refactor_rename", RENAME)
    plan, text = answer["structuredContent"]["result"], answer["content"][0]["text"]
    assert plan["outcome"] == "blocked"
    assert (plan["suggested_refresh_scope"], plan["can_force_syntactic"]) == (SCOPE, True)
    assert "app.py are dirty" in plan["problems"][0]
    tool, _, arguments = answer["structuredContent"]["meta"]["next_actions"][0].partition(" ")
    assert (tool, json.loads(arguments)) == ("semantic_refresh", SCOPE) and f"{tool} {arguments}" in text
    call(client, tool, json.loads(arguments))
    done = call(client, "refactor_rename", RENAME)["structuredContent"]["result"]
    assert done["outcome"] == "ok" and "applied" in done
    assert (repo.repo / "app.py").read_text() == APP.replace("run", "walk") + "\n\nlate = 1\n"


def test_what_stale_facts_block_can_be_forced_and_leaves_open_places_alone(
    repo: Cpl, server: Server, client: Stdio
) -> None:
    (repo.repo / "app.py").write_text(APP + "\n\nlate = 1\n")
    plan = post(server, "/refactor/rename", RENAME)
    assert plan["next"]["body"] == {**RENAME, "force_syntactic": True}
    _, forced = call(client, "refactor_rename", RENAME)["structuredContent"]["meta"]["next_actions"]
    assert json.loads(forced.partition(" ")[2]) == plan["next"]["body"]
    done = post(server, plan["next"]["path"], plan["next"]["body"])
    assert done["status"] == "ok_syntactic"
    assert "def walk" in (repo.repo / "tool.py").read_text()
    assert "thing.run()" in (repo.repo / "app.py").read_text()
