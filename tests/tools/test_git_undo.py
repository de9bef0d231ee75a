"""`undo` of what git did: HEAD goes back, what was discarded is there again, what came since is kept."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.core.ids import new_request_id
from codeplane.git.repo.outcome import Outcome
from codeplane.session import Call
from codeplane.session.operation.git import change
from tests.drive import git
from tests.tools.repo import Repo


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[Repo]:
    made = Repo(tmp_path, {"app.py": "def one(): ...\n", "notes.txt": "a\n"})
    git(made.root, "config", "user.name", "T")
    git(made.root, "config", "user.email", "t@example.org")
    yield made
    made.session.close()


def status(repo: Repo) -> str:
    return git(repo.root, "status", "--porcelain")


def test_a_checkout_is_taken_back_with_the_changes_since(repo: Repo) -> None:
    done = repo.result("git_checkout", ref="work", create=True)
    repo.write("notes.txt", "b\n")
    back = repo.result("undo", operation=done["operation"])
    assert (back["branch"], status(repo)) == ("main", "M notes.txt")
    row = repo.session.ledger.operations(limit=1)[0]
    assert (row.op_type, row.undoes) == ("git_undo", done["operation"])


def test_a_commit_is_taken_back_into_the_index_and_brought_again(repo: Repo) -> None:
    repo.write("app.py", "def two(): ...\n")
    call = Call(repo.session, repo.session.sessions.enter("a client"), new_request_id())
    done = change(call, "git_commit", lambda: Outcome(git(repo.root, "commit", "-qam", "two") or "made"))
    back = repo.result("undo", operation=done.operation_id)
    assert (back["head"], status(repo)) == ((done.before.commit or "")[:10], "M  app.py")
    again = repo.result("undo", operation=back["operation"])
    assert (again["head"], status(repo)) == ((done.after.commit or "")[:10], "")


def test_a_hard_reset_is_taken_back_with_the_work_that_it_discarded(repo: Repo) -> None:
    repo.write("app.py", "def two(): ...\n")
    git(repo.root, "commit", "-qam", "two")
    repo.write("notes.txt", "work\n")
    done = repo.result("git_reset", ref="HEAD~1", mode="hard", force=True)
    repo.result("undo", operation=done["operation"])
    assert (repo.root / "app.py").read_text() == "def two(): ...\n"
    assert ((repo.root / "notes.txt").read_text(), status(repo)) == ("work\n", "M notes.txt")


def test_files_that_were_restored_by_force_come_back(repo: Repo) -> None:
    repo.write("app.py", "work\n")
    done = repo.result("git_checkout", paths=["app.py"], force=True)
    repo.result("undo", operation=done["operation"])
    assert (repo.root / "app.py").read_text() == "work\n"


def test_a_stash_is_popped(repo: Repo) -> None:
    repo.write("app.py", "work\n")
    done = repo.result("git_stash", action="push")
    repo.result("undo", operation=done["operation"])
    assert status(repo) == "M app.py" and repo.result("git_stash")["stashes"] == []


def test_what_came_on_top_is_not_thrown_away(repo: Repo) -> None:
    done = repo.result("git_checkout", ref="work", create=True)
    repo.write("app.py", "def two(): ...\n")
    git(repo.root, "commit", "-qam", "two")
    refused = repo.error("undo", operation=done["operation"])
    assert refused["name"] == "UNDO_REFUSED" and refused["hints"] == ['git_checkout {"ref": "main"}']


def test_what_cannot_be_taken_back_is_refused(repo: Repo) -> None:
    done = repo.result("git_branch", action="create", name="work")
    assert repo.error("undo", operation=done["operation"])["name"] == "UNDO_REFUSED"
    assert repo.error("git_checkout", ref="none")["name"] == "REVISION_NOT_FOUND"
    failed = repo.session.ledger.operations(limit=1)[0].operation_id
    assert "failed" in repo.error("undo", operation=failed)["message"]


def test_a_soft_reset_forward_is_taken_back_without_touching_files(repo: Repo) -> None:
    repo.write("new.py", "x = 1\n")
    made = repo.result("git_stage_and_commit", message="new")["oid"]
    repo.result("git_reset", ref="HEAD~1", mode="soft")
    done = repo.result("git_reset", ref=made, mode="soft")
    back = repo.result("undo", operation=done["operation"])
    assert ((repo.root / "new.py").read_text(), status(repo)) == ("x = 1\n", "A  new.py")
    repo.result("undo", operation=back["operation"])
    assert (git(repo.root, "rev-parse", "HEAD")[:10], status(repo)) == (made, "")


def test_a_mixed_reset_is_taken_back_under_local_edits(repo: Repo) -> None:
    repo.write("app.py", "def two(): ...\n")
    made = repo.result("git_stage_and_commit", message="two")["oid"]
    done = repo.result("git_reset", ref="HEAD~1", mode="mixed")
    repo.write("app.py", "def three(): ...\n")
    repo.result("undo", operation=done["operation"])
    assert git(repo.root, "rev-parse", "HEAD")[:10] == made
    assert ((repo.root / "app.py").read_text(), status(repo)) == ("def three(): ...\n", "M app.py")


def test_an_undo_that_would_lose_work_says_what_an_undo_can_do(repo: Repo) -> None:
    repo.write("app.py", "def two(): ...\n")
    git(repo.root, "commit", "-qam", "two")
    done = repo.result("git_reset", ref="HEAD~1", mode="hard")
    repo.write("app.py", "work\n")
    refused = repo.error("undo", operation=done["operation"])
    assert refused["name"] == "WORK_AT_RISK" and "force" not in str(refused["hints"])
    assert refused["hints"][1] == f'undo {{"operation": "{done["operation"]}"}}'
    repo.result("git_stash", action="push")
    repo.result("undo", operation=done["operation"])
    assert (repo.root / "app.py").read_text() == "def two(): ...\n"


def test_the_last_operation_is_undone_if_git_did_it(repo: Repo) -> None:
    repo.write("app.py", "def two(): ...\n")
    made = repo.result("git_stage_and_commit", message="two")
    assert made["operation"] in repo.error("undo")["message"]
    repo.result("undo", operation="last")
    assert (git(repo.root, "log", "--format=%s"), status(repo)) == ("start", "M  app.py")


def test_a_last_operation_that_stays_is_named_with_what_takes_it_back(repo: Repo) -> None:
    repo.write("app.py", "def two(): ...\n")
    done = repo.result("git_stage", paths=["app.py"])
    refused = repo.error("undo", operation="last")
    assert done["operation"] in refused["message"] and refused["hints"] == ["git_reset {}"]


def test_files_taken_from_a_commit_are_named_with_the_call_that_brings_them_back(repo: Repo) -> None:
    repo.write("app.py", "def two(): ...\n")
    git(repo.root, "commit", "-qam", "two")
    repo.result("git_checkout", ref="HEAD~1", paths=["app.py"])
    [hint] = repo.error("undo", operation="last")["hints"]
    tool, _, arguments = hint.partition(" ")
    repo.result(tool, **json.loads(arguments))
    assert ((repo.root / "app.py").read_text(), status(repo)) == ("def two(): ...\n", "")
