"""Plans outlive the server that made them, and rest on the same files for the next one."""

import json
from pathlib import Path
from typing import Any

import pytest

from codeplane.core.records import decode_record, encode_record
from codeplane.plans import PlanStore
from codeplane.session import plans as module
from codeplane.session.plans import Pending
from tests.tools.repo import Repo

FILES = {
    "store.py": "class Store:\n    def fetch(self, key):\n        return key\n",
    "app.py": "from store import Store\n\n\ndef run(thing, other):\n"
    "    thing.fetch(1)\n    other.fetch(2)\n    return Store().fetch(3)\n",
    "README.md": "`Store.fetch` gets it, and fetch is a word.\n",
    "pkg/__init__.py": "",
    "pkg/one.py": "def alone():\n    return 1\n",
    "pkg/two.py": "from pkg.one import alone\n\nalone()\n",
}
PREVIEWS: dict[str, tuple[str, dict[str, Any]]] = {
    "rename": ("refactor_rename", {"symbol": "Store.fetch", "new_name": "take"}),
    "move": ("refactor_move", {"from": "pkg/one.py", "to": "pkg/three.py"}),
    "transfer": ("refactor_move", {"from": "pkg.one.alone", "to": "pkg/three.py"}),
    "delete": ("refactor_delete", {"target": "pkg.one.alone"}),
    "discard": ("refactor_delete", {"target": "pkg/one.py"}),
}


def again(repo: Repo, base: Path) -> Repo:
    """The same repository, with a server that has just started."""
    repo.session.close()
    return Repo.at(repo.root, base)


def kept(repo: Repo, kind: str = "rename", **more: object) -> Pending:
    tool, asked = PREVIEWS[kind]
    return repo.session.plans.get(repo.result(tool, **asked, apply="never", **more)["plan"])


@pytest.mark.parametrize("kind", PREVIEWS)
def test_every_plan_is_the_same_after_a_restart(kind: str, tmp_path: Path) -> None:
    repo = Repo(tmp_path, FILES)
    made = kept(repo, kind, verify=["parse"])
    assert made.plan.kind == kind and made.plan.read
    repo = again(repo, tmp_path)
    assert repo.session.plans.get(made.id) == made
    repo.session.close()


def test_a_plan_is_applied_after_a_restart_once(tmp_path: Path) -> None:
    repo = Repo(tmp_path, FILES)
    made = kept(repo)
    repo = again(repo, tmp_path)
    done = repo.result("refactor_rename", plan=made.id, accept=["group_1"])
    assert done["applied"] and "other.take(2)" in (repo.root / "app.py").read_text()
    repo = again(repo, tmp_path)
    error = repo.error("refactor_rename", plan=made.id, accept=["group_1"])
    assert error["name"] == "PLAN_GONE" and not error["retryable"]
    rest = PlanStore(repo.session.state_db).find(done["plan"])
    assert rest is not None and rest.parent == made.id
    repo.result("refactor_rename", plan=done["plan"], accept=["all"])
    assert "thing.take(1)" in (repo.root / "app.py").read_text()
    repo.session.close()


@pytest.mark.parametrize("path", ["app.py", "more.py"])
def test_a_plan_is_stale_when_its_files_have_changed_while_no_server_ran(path: str, tmp_path: Path) -> None:
    repo = Repo(tmp_path, FILES)
    made = kept(repo)
    repo.session.close()
    repo.write(path, FILES["app.py"] + "\n\nfetch = 1\n")
    repo = Repo.at(repo.root, tmp_path)
    error = repo.error("refactor_rename", plan=made.id, accept=["all"])
    assert error["name"] == "PLAN_STALE" and not error["retryable"] and path in error["message"]
    assert (repo.root / "store.py").read_text() == FILES["store.py"]
    repo.session.close()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("refactor_rename", {"symbol": "pkg.one.alone", "new_name": "single"}),
        ("refactor_move", {"from_path": "pkg/one.py", "to_path": "pkg/three.py"}),
        ("refactor_move", {"from_path": "pkg", "to_path": "lib"}),
        ("refactor_move", {"from_path": "pkg.one.alone", "to_path": "pkg/three.py"}),
        ("refactor_delete", {"target": "pkg.one.unused"}),
        ("refactor_delete", {"target": "pkg/two.py"}),
    ],
)
def test_a_stale_plan_offers_the_call_that_plans_anew(
    tool: str, arguments: dict[str, Any], tmp_path: Path
) -> None:
    repo = Repo(tmp_path, FILES)
    repo.write("pkg/one.py", FILES["pkg/one.py"] + "\n\ndef unused(): ...\n")
    plan = repo.result(tool, **arguments, apply="never")["plan"]
    for path in ("pkg/one.py", "pkg/two.py"):
        repo.write(path, (repo.root / path).read_text() + "\n\nmore = 1\n")
    error = repo.error(tool, plan=plan)
    assert error["name"] == "PLAN_STALE"
    [hint] = error["hints"]
    name, _, sent = hint.partition(" ")
    assert (name, json.loads(sent)) == (tool, arguments)
    assert repo.result(name, **json.loads(sent))["applied"]
    repo.session.close()


def test_a_plan_that_is_dropped_stays_dropped(tmp_path: Path) -> None:
    repo = Repo(tmp_path, FILES)
    made = kept(repo)
    repo = again(repo, tmp_path)
    repo.result("refactor_cancel", plan=made.id)
    repo = again(repo, tmp_path)
    assert repo.error("refactor_inspect", plan=made.id)["name"] == "PLAN_GONE"
    repo.session.close()


def test_what_another_process_drops_is_gone_here_too(tmp_path: Path) -> None:
    repo = Repo(tmp_path, FILES)
    made = kept(repo)
    PlanStore(repo.session.state_db).drop(made.id)
    assert repo.error("refactor_inspect", plan=made.id)["name"] == "PLAN_GONE"
    repo.session.close()


def test_a_plan_that_is_applied_at_once_leaves_no_row(tmp_path: Path) -> None:
    repo = Repo(tmp_path, FILES)
    assert repo.result("refactor_move", **PREVIEWS["move"][1])["applied"]
    with repo.session.state_db.read() as connection:
        assert connection.execute("SELECT count(*) FROM plan").fetchall() == [(0,)]
    repo.session.close()


@pytest.mark.parametrize(
    "damage",
    ["UPDATE plan SET body = '{}'", "UPDATE plan SET version = '0.0.1'", "DELETE FROM plan_content"],
)
def test_a_row_that_cannot_be_read_is_told_and_nothing_changes(damage: str, tmp_path: Path) -> None:
    repo = Repo(tmp_path, FILES)
    made = kept(repo)
    with repo.session.state_db.write() as connection:
        connection.execute(damage)
    repo = again(repo, tmp_path)
    error = repo.error("refactor_rename", plan=made.id, accept=["all"])
    assert error["name"] == "PLAN_GONE" and error["hints"]
    assert (repo.root / "store.py").read_text() == FILES["store.py"]
    repo.session.close()


def test_a_plan_of_another_version_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = Repo(tmp_path, FILES)
    with monkeypatch.context() as patched:
        patched.setattr(module, "__version__", "0.0.1")
        made = kept(repo)
    repo = again(repo, tmp_path)
    assert "made by CodePlane 0.0.1" in repo.error("refactor_inspect", plan=made.id)["message"]
    repo.session.close()


def test_a_row_names_no_path_outside_of_the_repository(tmp_path: Path) -> None:
    repo = Repo(tmp_path, FILES)
    made = kept(repo)
    store = PlanStore(repo.session.state_db)
    row = store.find(made.id)
    assert row is not None
    forged = row.__class__(**{**vars(row), "body": row.body.replace('"app.py"', '"../app.py"')})
    store.save(forged)
    repo = again(repo, tmp_path)
    assert repo.error("refactor_rename", plan=made.id, accept=["all"])["name"] == "PLAN_GONE"
    repo.session.close()


def test_on_a_full_disk_the_preview_answers_and_says_that_the_plan_is_not_saved(tmp_path: Path) -> None:
    repo = Repo(tmp_path, FILES)
    with repo.session.state_db.write() as connection:
        [(pages,)] = connection.execute("PRAGMA page_count").fetchall()
    # The calls run on threads of their own, each with its connection.
    real = repo.session.state_db._get_connection

    def full() -> Any:
        connection = real()
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    repo.session.state_db._get_connection = full  # type: ignore[method-assign]
    big = "# " + "x" * 200_000 + "\n"
    repo.write("store.py", FILES["store.py"] + big)
    answer = repo.ask("refactor_rename", **PREVIEWS["rename"][1], apply="never")
    assert not answer.is_error and "The plan is not saved" in answer.text and "no space left" in answer.text
    plan = answer.body["result"]["plan"]
    assert repo.result("refactor_rename", plan=plan, accept=["all"])["applied"]
    repo.session.close()


def test_a_decision_is_offered_after_a_restart(tmp_path: Path) -> None:
    repo = Repo(tmp_path, FILES)
    made = kept(repo)
    repo.result("refactor_rename", plan=made.id, accept=["group_1"])
    repo.result("undo")
    repo = again(repo, tmp_path)
    assert repo.session.decisions.find(kept(repo).plan) == ["group_1"]
    repo.session.close()


def test_plans_with_odd_names_and_bytes_come_back(tmp_path: Path) -> None:
    repo = Repo(tmp_path, FILES)
    odd = (repo.root / "caf\udce9.py").resolve()
    odd.write_bytes(b"from store import Store\nStore().fetch('\\xff \xc3\xa9')\n")
    made = kept(repo)
    text, contents = encode_record(made)
    assert decode_record(Pending, text, contents, repo.session.tree.jail.enter) == made
    assert any("caf" in path for path in made.plan.change.before)
    repo.session.close()
