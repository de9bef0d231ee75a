"""Whatever fails after the commit point of a write, the answer says what was done and how to take it back."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codeplane.answers import plan as _plan
from codeplane.answers.plan import PlanOutput
from codeplane.ledger.tasks import Tasks
from codeplane.mutation.engine import Engine
from codeplane.mutation.recovery import Recovery
from codeplane.refactor import rename
from codeplane.session import RepoSession
from codeplane.session.decisions import Decisions
from codeplane.session.operation import edits
from codeplane.session.plans import Plans
from codeplane.tools import _settling
from tests.tools.repo import Repo

FILES = {
    "store.py": "class Store:\n    def fetch(self, key):\n        return key\n",
    "app.py": "from store import Store\n\n\ndef run(thing, other):\n"
    "    thing.fetch(1)\n    other.fetch(2)\n    return Store().fetch(3)\n",
}
STEPS: dict[str, tuple[object, str]] = {
    "the end of the batch": (Recovery, "finished"),
    "the signals of the task": (Tasks, "note_mutation"),
    "the look at the tree": (RepoSession, "refresh"),
    "the effects": (edits, "effects"),
    "the end of the plan": (Plans, "drop"),
    "the choice that is kept": (Decisions, "keep"),
    "the places that are left": (rename, "rest"),
    "the delta": (_settling, "told"),
    "the summary": (_plan, "summary"),
    "the text": (PlanOutput, "render"),
}


def changed(repo: Repo) -> bool:
    return "def take(" in (repo.root / "store.py").read_text()


def failing(repo: Repo, real: Callable[..., Any]) -> Callable[..., Any]:
    """Fails once the change is on the disk, and does its work before."""

    def step(*args: Any, **named: Any) -> Any:
        if changed(repo):
            raise RuntimeError("injected")
        return real(*args, **named)

    return step


@pytest.mark.parametrize("step", STEPS)
def test_a_change_that_is_made_is_told_whatever_fails_after_it(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = Repo(tmp_path, FILES)
    made = repo.result("refactor_rename", symbol="Store.fetch", new_name="take")
    holder, name = STEPS[step]
    with monkeypatch.context() as patched:
        patched.setattr(holder, name, failing(repo, getattr(holder, name)))
        answer = repo.ask("refactor_rename", plan=made["plan"], accept=["group_1"])
    assert changed(repo) and "other.take(2)" in (repo.root / "app.py").read_text()
    rows = [row for row in repo.session.ledger.operations(limit=10) if row.op_type == "refactor_rename"]
    assert [row.success for row in rows] == [True]
    if answer.is_error:
        error = answer.body["error"]
        assert rows[0].operation_id in error["message"] and "app.py, store.py" in error["message"]
        assert error["hints"][0] == f'undo {{"operation": "{rows[0].operation_id}"}}'
        assert not error["retryable"]
    else:
        assert answer.body["result"]["applied"]["operation"] == rows[0].operation_id
        assert step == "the text" or any("The change was made, but" in one for one in warnings(answer))
    repo.result("undo", operation=rows[0].operation_id)
    assert {name: (repo.root / name).read_text() for name in FILES} == FILES


def warnings(answer: Any) -> list[str]:
    found: list[str] = answer.body["meta"].get("warnings", [])
    return found


def test_an_error_before_the_commit_point_says_nothing_of_a_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = Repo(tmp_path, FILES)

    def fail(*_: Any, **__: Any) -> Any:
        raise RuntimeError("injected")

    monkeypatch.setattr(Engine, "prepare", fail)
    error = repo.error("refactor_rename", symbol="Store.fetch", new_name="take", accept="all")
    assert error["name"] == "INTERNAL_ERROR" and "made" not in error["message"]
    assert not changed(repo)
