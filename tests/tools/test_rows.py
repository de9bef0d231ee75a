"""Every tool that changes something writes one row, with the states of the files before and after."""

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from codeplane.core.fingerprint import Fingerprint
from codeplane.core.paths import Digest, RepoPath
from codeplane.ledger import History
from codeplane.session import RepoSession
from codeplane.tools import Effect, all_tools
from tests.drive import git, new_repo
from tests.tools.repo import Repo, trust

FILES = {
    "store.py": "class Store:\n    def fetch(self): return 1\n\n    def spare(self): return 2\n",
    "app.py": "from store import Store\n\n\ndef run(thing):\n    thing.fetch()\n    return Store().fetch()\n",
    "notes.txt": "a\n",
}


@dataclass(frozen=True)
class Case:
    """A call, what has to be there before it, and whether it changes files."""

    tool: str
    arguments: dict[str, Any]
    before: Callable[[Repo], dict[str, Any] | None] = lambda _: None
    changes_files: bool = False
    op_type: str = ""  # of the row, where it is not the name of the tool


def edited(repo: Repo) -> None:
    repo.write("notes.txt", "b\n")


def staged(repo: Repo) -> None:
    edited(repo)
    git(repo.root, "add", "-A")


def branched(repo: Repo) -> None:
    """Another branch with a commit of its own, and one more here."""
    git(repo.root, "switch", "-qc", "other")
    repo.write("new.py", "X = 1\n")
    git(repo.root, "add", "-A")
    git(repo.root, "commit", "-qm", "other")
    git(repo.root, "switch", "-q", "main")
    repo.write("notes.txt", "main\n")
    git(repo.root, "commit", "-qam", "main")


def remote(repo: Repo) -> None:
    git(repo.root, "clone", "-q", "--bare", str(repo.root), str(repo.root.parent / "far.git"))
    git(repo.root, "remote", "add", "origin", f"file://{repo.root.parent}/far.git")


def far_ahead(repo: Repo) -> None:
    """A remote with a commit that is not here."""
    repo.write("far.py", "X = 1\n")
    git(repo.root, "add", "-A")
    git(repo.root, "commit", "-qm", "far")
    remote(repo)
    git(repo.root, "reset", "-q", "--hard", "HEAD~1")


def part(repo: Repo) -> dict[str, Any]:
    made = new_repo(repo.root.parent / "part")
    return {"url": str(made)}


def plan(repo: Repo) -> dict[str, Any]:
    made = repo.result("refactor_rename", symbol="Store.spare", new_name="rest", apply="never")
    return {"plan": made["plan"]}


def question(repo: Repo) -> dict[str, Any]:
    made = repo.result("refactor_rename", symbol="Store.fetch", new_name="get")
    return {"plan_id": made["plan"]}


def stash(repo: Repo) -> None:
    edited(repo)
    git(repo.root, "stash", "-q")


def by_hand(repo: Repo) -> None:
    repo.result("write_source", edits=[EDIT])


def work_plan(repo: Repo) -> dict[str, Any]:
    transform = {"operation": "add_type_annotation", "target": "Store.spare", "type": "int"}
    delta = {"elements": [{"path": "store.py", "transforms": [transform]}]}
    phases = [{"title": "One", "tasks": [{"title": "spare", "delta": delta}]}]
    return {"plan": repo.result("plan_create", title="Types", phases=phases)["plan"]}


EDIT = {"path": "notes.txt", "expected_content": "a", "new_content": "b"}
PROOF = {"symbol_identity": "store.Store.fetch", "anchors": [{"file": "app.py", "line": 5}]}
CASES = [
    Case("write_source", {"edits": [EDIT]}, changes_files=True),
    Case("write_source", {"edits": [{"path": "app.py", "action": "delete"}]}, changes_files=True),
    Case(
        "write_source", {"edits": [{"path": "app.py", "action": "move", "to": "b/c.py"}]}, changes_files=True
    ),
    Case(
        "write_source",
        {"edits": [{"path": "n.py", "action": "create", "new_content": "x\n"}]},
        changes_files=True,
    ),
    Case("undo", {}, by_hand, changes_files=True),
    Case(
        "refactor_rename",
        {"symbol": "Store.spare", "new_name": "rest", "apply": "if_certain"},
        changes_files=True,
    ),
    Case("refactor_delete", {"symbol": "Store.spare", "apply": "if_certain"}, changes_files=True),
    Case(
        "refactor_move",
        {"from_path": "notes.txt", "to_path": "docs/notes.txt", "apply": "if_certain"},
        changes_files=True,
    ),
    Case("refactor_apply", {}, plan, changes_files=True, op_type="refactor_rename"),
    Case(
        "execute_deltas",
        {"confidence": "validated", "no_git": True},
        work_plan,
        changes_files=True,
        op_type="delta_phase",
    ),
    Case(
        "decision_commit",
        {"selected": ["group_1"], "proof": PROOF},
        question,
        changes_files=True,
        op_type="refactor_rename",
    ),
    Case("git_stage", {"paths": ["notes.txt"]}, edited),
    Case("git_commit", {"message": "b"}, staged),
    Case("git_commit", {"action": "tag", "tag": "v1"}),
    Case("git_stage_and_commit", {"message": "b"}, edited),
    Case("git_branch", {"action": "create", "name": "work"}),
    Case("git_checkout", {"ref": "other"}, branched, changes_files=True),
    Case("git_merge", {"ref": "other"}, branched, changes_files=True),
    Case("git_rebase", {"upstream": "other"}, branched, changes_files=True),
    Case("git_reset", {"ref": "HEAD~1", "mode": "hard"}, branched, changes_files=True),
    Case("git_stash", {"action": "push"}, edited, changes_files=True),
    Case("git_stash", {"action": "drop"}, stash),
    Case("git_remote", {"action": "add", "name": "origin", "url": "https://example.org/a.git"}),
    Case("git_push", {"branch": "main"}, remote),
    Case("git_pull", {"branch": "main"}, far_ahead, changes_files=True),
    Case("git_pull", {"fetch_only": True}, far_ahead),
    Case("git_worktree", {"action": "add", "path": "fix"}),
    Case("git_submodule", {"action": "add", "path": "libs/part"}, part, changes_files=True),
    Case("undo", {}, lambda repo: {"operation": _switched(repo)}, changes_files=True, op_type="git_undo"),
]


def _switched(repo: Repo) -> str:
    branched(repo)
    return str(repo.result("git_checkout", ref="other")["operation"])


# Each fails and leaves everything as it was.
REFUSED = [
    Case("write_source", {"edits": [{**EDIT, "expected_content": "nowhere"}]}),
    Case("undo", {"operation": "op_none"}),
    Case("refactor_apply", {"plan": "ref_none"}),
    Case("git_commit", {"message": "nothing"}),
    Case("git_stage_and_commit", {"message": "nothing"}),
    Case("git_stage", {"paths": ["none.txt"]}),
    Case("git_branch", {"action": "create", "name": "main"}),
    Case("git_checkout", {"ref": "none"}),
    Case("git_merge", {"ref": "none"}),
    Case("git_merge", {"action": "continue"}),
    Case("git_rebase", {"upstream": "none"}),
    Case("git_reset", {"ref": "none"}),
    Case("git_stash", {"action": "push"}),
    Case("git_remote", {"action": "remove", "name": "none"}),
    Case("git_push", {"branch": "main"}),
    Case("git_pull", {"branch": "none"}, remote),
    Case("git_worktree", {"action": "remove", "path": "none"}),
    Case("git_submodule", {"action": "update", "paths": ["none"]}),
]


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[Repo]:
    root = new_repo(tmp_path / "repo", FILES)
    git(root, "config", "user.name", "T")
    git(root, "config", "user.email", "t@example.org")
    trust(root, tmp_path)
    made = Repo.at(root, tmp_path)
    yield made
    made.session.close()


def state(root: Path) -> str:
    """That of the files of the tree, read by hand."""
    found = []
    for place, directories, names in os.walk(root):
        directories[:] = [name for name in directories if name not in (".git", ".codeplane", "part")]
        for path in (Path(place, name) for name in names):
            digest = Digest(hashlib.sha256(path.read_bytes()).hexdigest())
            found.append((RepoPath(str(path.relative_to(root))), digest))
    return Fingerprint(found).hex()


def counted(repo: Repo) -> str:
    return str(repo.result("task_status")["mutations"])


def test_every_tool_that_writes_is_looked_at() -> None:
    writing = {name for name, tool in all_tools().items() if tool.effect is Effect.WRITE}
    # Tests and linters have rows of another kind: tests/testrun and tests/lint look at them. A batch: none.
    # A refresh of semantic facts writes nothing but the index.
    # A turn runs other tools, which have theirs. Rows of workspaces are in tests/workspaces.
    others = {"run_test_targets", "lint_check", "batch", "semantic_refresh", "controller_turn"}
    workspaces = {name for name in writing if name.startswith("workspace_")}
    assert {case.tool for case in CASES} == writing - others - workspaces


def test_each_call_of_a_batch_has_its_own_row(repo: Repo) -> None:
    edits = [{"path": "notes.txt", "expected_content": "a", "new_content": "b"}]
    calls = [{"tool": "write_source", "args": {"edits": edits}}, {"tool": "undo"}]
    rows = len(repo.session.ledger.operations(limit=100))
    repo.result("batch", calls=calls)
    found = repo.session.ledger.operations(limit=100)
    assert len(found) == rows + 2 and {one.op_type for one in found} >= {"write_source", "undo"}
    assert (repo.root / "notes.txt").read_text() == "a\n"


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.tool} {case.arguments}"[:60])
def test_a_change_has_one_row_with_the_states_around_it(repo: Repo, case: Case) -> None:
    more = case.before(repo) or {}
    was, rows = state(repo.root), len(repo.session.ledger.operations(limit=100))
    charged = int(counted(repo).split("/")[0])
    answer = repo.result(case.tool, **case.arguments, **more)
    found = repo.session.ledger.operations(limit=100)
    assert len(found) == rows + 1
    row, now = found[0], state(repo.root)
    assert row.success and row.op_type == (case.op_type or case.tool)
    assert row.operation_id in str(answer)
    assert (row.repo_before, row.repo_after) == (was, now)
    assert (was != now) == case.changes_files == bool(row.changes)
    assert counted(repo).startswith(f"{charged + 1}/")
    assert repo.session.ledger.verify() == []


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: f"{case.tool} {case.arguments}"[:60])
def test_what_fails_and_changes_nothing_costs_nothing(repo: Repo, case: Case) -> None:
    more = case.before(repo) or {}
    repo.result("git_branch", action="create", name="first")
    was = state(repo.root)
    repo.error(case.tool, **case.arguments, **more)
    assert counted(repo).startswith("1/")
    assert all(row.unchanged and row.repo_before == row.repo_after == was for row in _failed(repo.session))
    assert state(repo.root) == was
    [task] = History(repo.session.state.ledger).tasks()
    assert task.mutations == 1


def _failed(session: RepoSession) -> list[Any]:
    return [row for row in session.ledger.operations(limit=100) if not row.success]
