"""Refactoring over plain HTTP: a plan with candidates, a decision with proof, behind the guard."""

import http.client
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.drive import Cpl, Server, new_repo, user_env
from tests.zygote import PATIENCE

FILES = {
    "store.py": "class Store:\n    def fetch(self, key):\n        return key\n",
    "app.py": (
        "from store import Store\n\n\ndef run(thing):\n    thing.fetch(1)\n    return Store().fetch(2)\n"
    ),
}


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Cpl:
    base = tmp_path_factory.mktemp("rest")
    return Cpl(new_repo(base / "repo", FILES), user_env(base / "home"))


@pytest.fixture(scope="module")
def server(repo: Cpl) -> Iterator[Server]:
    with repo.up() as running:
        yield running


def post(server: Server, path: str, body: object, headers: dict[str, str] | None = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    connection.request("POST", path, json.dumps(body), server.headers if headers is None else headers)
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response.status, json.loads(text) if text.startswith("{") else text


def test_a_plan_is_decided_with_proof(repo: Cpl, server: Server) -> None:
    status, plan = post(server, "/refactor/rename", {"symbol": "Store.fetch", "new_name": "get"})
    assert (status, plan["status"]) == (200, "needs_decision")
    assert [one["id"] for one in plan["candidates"]] == ["proven", "group_1"]
    assert plan["candidates"][1]["apply_plan"]["edits"] == [
        {"file": "app.py", "line": 5, "column": 10, "old": "fetch", "new": "get"}
    ]
    assert plan["commit_endpoint"] == "/decisions/commit"
    assert plan["decision_capsules"][0]["capsule"] == "receiver_resolution"
    proof = {
        "symbol_identity": plan["symbol"],
        "anchors": [{"file": "app.py", "line": 5, "anchor_before": "no."}],
    }
    decision = {"plan_id": plan["plan_id"], "selected_candidate_id": "group_1", "proof": proof}
    status, refused = post(server, "/decisions/commit", decision)
    assert (status, refused["status"], refused["reason"]) == (409, "refused", "proof_verification_failed")
    proof["anchors"] = [{"file": "app.py", "line": 5, "anchor_before": "thing."}]
    status, done = post(server, "/decisions/commit", decision)
    assert (status, done["status"], done["applied"]) == (200, "ok", True)
    assert "thing.get(1)" in (repo.repo / "app.py").read_text()
    assert post(server, "/decisions/commit", decision)[0] == 410


def test_the_guard_is_in_front_and_wrong_bodies_are_refused(server: Server) -> None:
    assert post(server, "/refactor/rename", {}, headers={})[0] == 401
    assert post(server, "/refactor/rename", [])[0] == 400
    assert post(server, "/refactor/rename", {"symbol": "nothing.at.all", "new_name": "x"})[0] == 404
    assert (
        post(server, "/refactor/rename", {"symbol": "run", "new_name": "not a name"})[1]["status"]
        == "refused"
    )


def test_refactoring_that_is_switched_off_is_not_there(tmp_path_factory: pytest.TempPathFactory) -> None:
    base = tmp_path_factory.mktemp("off")
    cpl = Cpl(new_repo(base / "repo", FILES), user_env(base / "home"))
    with cpl.up("--no-refactor") as running:
        assert post(running, "/refactor/rename", {"symbol": "run", "new_name": "x"})[0] == 404
