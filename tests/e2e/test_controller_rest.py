"""Controlled runs over plain HTTP, behind the guard, with a stream of what happens."""

import http.client
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.controller.lab import APP
from tests.drive import Cpl, Server, new_repo, user_env
from tests.zygote import PATIENCE


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Cpl:
    base = tmp_path_factory.mktemp("controlled")
    return Cpl(new_repo(base / "repo", dict(APP)), user_env(base / "home"))


@pytest.fixture(scope="module")
def server(repo: Cpl) -> Iterator[Server]:
    with repo.up() as running:
        yield running


def ask(server: Server, method: str, path: str, body: object = None, **headers: str) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    content = json.dumps(body) if body is not None else None
    connection.request(method, path, content, {**server.headers, **headers})
    response = connection.getresponse()
    answer = json.loads(response.read())
    connection.close()
    return response.status, answer


def test_a_turn_is_taken_and_found_among_runs_and_errors(server: Server) -> None:
    status, turn = ask(
        server, "POST", "/turn", {"verb": "read_file_lines", "file": "pager.py", "workId": "web"}
    )
    assert (status, turn["state"], turn["denyReasons"]) == (200, "PLAN_REQUIRED", [])
    assert turn["result"]["targetFile"] == "pager.py"
    status, denied = ask(server, "POST", "/turn", {"verb": "apply_code_patch", "workId": "web"})
    assert (status, denied["denyReasons"]) == (200, ["PLAN_SCOPE_VIOLATION"])
    [run] = [run for run in ask(server, "GET", "/runs")[1]["runs"] if run["workId"] == "web"]
    assert (run["turns"], run["denials"], run["state"]) == (2, 1, "PLAN_REQUIRED")
    errors = ask(server, "GET", "/errors?workId=web")[1]
    assert errors["rejectionHeatmap"] == {"PLAN_SCOPE_VIOLATION": 1}
    assert errors["retrievalHotspots"] == [["pager.py", 1]]
    assert ask(server, "GET", "/policies/pending")[1] == {"pending": []}
    assert len(ask(server, "GET", "/worktrees")[1]["worktrees"]) == 1


@pytest.mark.parametrize("body", [[], "x", 3])
def test_a_turn_that_is_no_object_is_refused(server: Server, body: object) -> None:
    status, answer = ask(server, "POST", "/turn", body)
    assert (status, answer["error"]["name"]) == (400, "INVALID_ARGUMENT")


@pytest.mark.parametrize("path", ["/runs", "/errors", "/policies/pending", "/stream/events", "/worktrees"])
def test_without_the_token_nothing_is_told(server: Server, path: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    connection.request("GET", path)
    assert connection.getresponse().status == 401
    connection.close()


def test_the_stream_tells_what_happens_and_what_happened_before(server: Server) -> None:
    first = _events_after(server, None, {"verb": "list_scoped_files", "workId": "live"})
    assert first["work_id"] == "live"
    again = _events_after(server, "0", None)
    assert again["event"] == "controller_turn"


def _events_after(server: Server, after: str | None, turn: dict[str, Any] | None) -> dict[str, Any]:
    """The first event of a stream; a turn is taken once it is open."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    headers = {**server.headers, **({"last-event-id": after} if after else {})}
    connection.request("GET", "/stream/events", headers=headers)
    response = connection.getresponse()
    assert response.getheader("content-type", "").startswith("text/event-stream")
    response.readline()
    if turn is not None:
        ask(server, "POST", "/turn", turn)
    while not (line := response.readline()).startswith(b"data: "):
        pass
    connection.close()
    event: dict[str, Any] = json.loads(line[6:])
    return event
