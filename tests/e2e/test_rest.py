"""Refactoring over plain HTTP: a plan with candidates, a decision with proof, behind the guard."""

import http.client
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.drive import Cpl, Server, new_repo, user_env
from tests.zygote import PATIENCE

FILES = {
    "store.py": (
        "class Store:\n    def fetch(self, key):\n        return key\n\n\n"
        "class Shelf:\n    def take(self):\n        return 1\n"
    ),
    "app.py": (
        "from store import Store\n\n\ndef run(thing):\n"
        '    print("é"); thing.fetch(1)\n    return Store().fetch(2)\n'
    ),
    "shelf.py": "def run(thing):\n    thing.take()\n",
    "torn.py": "def half():\n    return 1\n",
    "broken.py": "from torn import half\n\ndef ((:\n    half()\n",
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
        {"file": "app.py", "line": 5, "column": 23, "old": "fetch", "new": "get"}
    ]
    assert plan["commit_endpoint"] == "/decisions/commit"
    assert plan["decision_capsules"][0]["capsule_type"] == "receiver_resolution"
    anchor = {"file": "app.py", "line": 5, "col": 23, "anchor_before": "no.", "occurrence_text": "fetch"}
    proof = {"symbol_identity": plan["symbol"], "anchors": [anchor], "reasoning": "I have read it."}
    decision = {"plan_id": plan["plan_id"], "selected_candidate_id": "group_1", "proof": proof}
    status, refused = post(server, "/decisions/commit", decision)
    assert (status, refused["status"], refused["reason"]) == (409, "refused", "proof_verification_failed")
    anchor["anchor_before"] = "thing."
    status, done = post(server, "/decisions/commit", decision)
    assert (status, done["status"], done["applied"]) == (200, "ok", True)
    assert 'print("é"); thing.get(1)' in (repo.repo / "app.py").read_text()
    assert post(server, "/decisions/commit", decision)[0] == 410


def test_the_witness_has_facts_that_programs_can_read(server: Server) -> None:
    _, plan = post(server, "/refactor/rename", {"symbol": "Shelf.take", "new_name": "pick"})
    assert plan["witness"]["facts"] == [
        {
            "fact_type": "definition",
            "location": {"file": "store.py", "line": 7, "column": 9},
            "content": "def take(self):",
            "provenance": "semantic",
            "confidence": 1.0,
        }
    ]
    assert plan["witness"]["bounds"]["files_scanned"] == ["shelf.py", "store.py"]
    assert plan["witness"]["candidate_sets"]["group_1"]["members"] == ["group_1"]
    outputs = plan["decision_capsules"][0]["candidate_outputs"]
    assert outputs[0]["supporting_evidence"] == [{"file": "shelf.py", "line": 2, "column": 11}]


def test_what_is_certain_can_be_chosen_and_a_choice_is_offered_again(repo: Cpl, server: Server) -> None:
    asked = {"symbol": "Shelf.take", "new_name": "pick"}
    _, plan = post(server, "/refactor/rename", asked)
    chosen = {"plan_id": plan["plan_id"], "selected_candidate_id": "group_1"}
    assert post(server, "/decisions/commit", chosen)[0] == 200
    before = {name: (repo.repo / name).read_bytes() for name in ("store.py", "shelf.py")}
    repo.run("undo")
    _, plan = post(server, "/refactor/rename", asked)
    assert plan["candidates"][0]["id"] == "cached" and plan["candidates"][0]["selected"] == ["group_1"]
    status, _ = post(
        server, "/decisions/commit", {"plan_id": plan["plan_id"], "selected_candidate_id": "cached"}
    )
    assert status == 200 and (repo.repo / "shelf.py").read_bytes() == before["shelf.py"]
    repo.run("undo")
    _, plan = post(server, "/refactor/rename", asked)
    status, done = post(
        server, "/decisions/commit", {"plan_id": plan["plan_id"], "selected_candidate_id": "proven"}
    )
    assert (status, done["applied"]) == (200, True)
    assert (repo.repo / "store.py").read_bytes() == before["store.py"]
    assert "thing.take()" in (repo.repo / "shelf.py").read_text()


def test_what_blocks_a_plan_is_told_with_a_way_on(repo: Cpl, server: Server) -> None:
    status, plan = post(server, "/refactor/rename", {"symbol": "torn.half", "new_name": "whole"})
    assert (status, plan["status"], plan["can_force_syntactic"]) == (200, "blocked", True)
    assert plan["suggested_refresh_scope"] == {"files": ["broken.py"]}
    status, forced = post(server, plan["next"]["path"], {**plan["next"]["body"], "apply": "never"})
    assert (status, forced["status"]) == (200, "ok_syntactic")
    (repo.repo / "torn.py").write_text("def half():\n    return 2\n")
    status, stale = post(server, "/decisions/commit", {"plan_id": forced["plan_id"]})
    assert (status, stale["status"], stale["non_clean_files"]) == (409, "blocked", ["torn.py"])
    assert stale["suggested_refresh_scope"] == {"files": ["torn.py"]}
    assert stale["error"]["retryable"] is False


def test_the_guard_is_in_front_and_wrong_bodies_are_refused(server: Server) -> None:
    assert post(server, "/refactor/rename", {}, headers={})[0] == 401
    assert post(server, "/refactor/rename", [])[0] == 400
    assert post(server, "/refactor/rename", {"symbol": "nothing.at.all", "new_name": "x"})[0] == 404
    assert (
        post(server, "/refactor/rename", {"symbol": "app.run", "new_name": "not a name"})[1]["status"]
        == "refused"
    )


def test_refactoring_that_is_switched_off_is_not_there(tmp_path_factory: pytest.TempPathFactory) -> None:
    base = tmp_path_factory.mktemp("off")
    cpl = Cpl(new_repo(base / "repo", FILES), user_env(base / "home"))
    with cpl.up("--no-refactor") as running:
        assert post(running, "/refactor/rename", {"symbol": "run", "new_name": "x"})[0] == 404
