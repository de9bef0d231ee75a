"""An operation of git is on record, in the index, and known at the next start when it was cut off."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pygit2
import pytest

from codeplane.answers.git.change import GitDelta, delta_fields
from codeplane.core.errors import GitFailed, StateUnusable
from codeplane.core.ids import new_request_id
from codeplane.git.repo.outcome import Outcome
from codeplane.ledger.tasks import Tasks
from codeplane.mutation.journal import has_cut_off
from codeplane.session import Call, RepoSession
from codeplane.session.operation.git import Changed, change
from tests.drive import git
from tests.tools.repo import Repo


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[Repo]:
    files = {"app.py": "def one(): ...\n", "test_app.py": "from app import one\n\n\ndef test(): one()\n"}
    made = Repo(tmp_path, files)
    yield made
    made.session.close()


def call(repo: Repo) -> Call:
    return Call(repo.session, repo.session.sessions.enter("a client"), new_request_id())


def act(repo: Repo, do: Callable[[pygit2.Repository], None]) -> Callable[[], Outcome]:
    def run() -> Outcome:
        with repo.session.checkout.repository.opened() as handle:
            do(handle)
        return Outcome("done", insertions=1)

    return run


def switched(repo: Repo) -> Changed[Outcome]:
    git(repo.root, "switch", "-qc", "other")
    repo.write("app.py", "def one(): ...\n\n\ndef two(): ...\n")
    git(repo.root, "commit", "-qam", "more")
    return change(call(repo), "git_checkout", act(repo, lambda handle: handle.checkout("refs/heads/main")))


def test_the_delta_has_heads_files_symbols_and_tests(repo: Repo) -> None:
    found = GitDelta.model_validate(delta_fields(switched(repo)))
    assert (found.branch_before, found.branch, found.files_changed) == ("other", "main", 1)
    assert found.files is not None and found.files[0].symbols == ["removed function two"]
    assert found.tests == ["high exact test_app.py"]


def test_the_row_has_both_ends(repo: Repo) -> None:
    done = switched(repo)
    row = repo.session.ledger.find(done.operation_id)
    assert row is not None and row.success
    assert (row.branch_before, row.branch_after, row.head_after) == ("other", "main", done.after.commit)
    assert row.repo_before != row.repo_after and row.short_diff == "~ app.py"


def test_what_git_refuses_is_on_record_too(repo: Repo) -> None:
    with pytest.raises(GitFailed):
        change(call(repo), "git_checkout", act(repo, lambda handle: handle.checkout("refs/heads/none")))
    row = repo.session.ledger.operations(limit=1)[0]
    assert (row.success, row.failure_class) == (False, "GIT_FAILED")


def test_nothing_is_done_where_it_could_not_be_noted(repo: Repo) -> None:
    (repo.session.state.path / "journal").write_text("")
    error = repo.error("git_branch", action="create", name="other")
    assert error["name"] == "STATE_UNUSABLE" and "journal" in error["message"]
    assert git(repo.root, "branch", "--list", "other") == ""
    row = repo.session.ledger.operations(limit=1)[0]
    assert row.unchanged and not row.success
    assert repo.session.sessions.enter("a client").task.mutations == 0, "what was not done is not counted"


def test_an_operation_that_was_cut_off_is_told_at_the_next_start(repo: Repo) -> None:
    def dies(handle: pygit2.Repository) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        change(call(repo), "git_reset", act(repo, dies))
    repo.session.close()
    again = RepoSession.open(repo.session.checkout)
    try:
        assert "git_reset" in again.recovered[0] and "interrupted" in again.recovered[0]
        row = again.ledger.operations(limit=1)[0]
        assert (row.failure_class, row.op_type, row.recovered) == ("CUT_OFF", "git_reset", True)
        assert row.head_before == row.head_after == git(repo.root, "rev-parse", "HEAD")
    finally:
        again.close()
    once_more = RepoSession.open(repo.session.checkout)
    assert once_more.recovered == () and len(once_more.ledger.operations(limit=9)) == 1
    once_more.close()


def test_an_operation_whose_row_could_not_be_written_is_put_on_record_at_the_next_start(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StateUnusable("the disk is full.")

    monkeypatch.setattr(Tasks, "record", full)
    with pytest.raises(StateUnusable):
        change(call(repo), "git_branch", act(repo, lambda handle: None), alone=False)
    monkeypatch.undo()
    repo.session.close()
    again = RepoSession.open(repo.session.checkout)
    assert again.ledger.operations(limit=1)[0].op_type == "git_branch"
    again.close()


def test_the_journal_is_empty_when_git_has_done_its_work(repo: Repo) -> None:
    repo.result("git_branch", action="create", name="other")
    repo.session.close()
    assert not has_cut_off(repo.session.state.path)


def test_what_fails_after_git_has_moved_head_says_that_it_has(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("injected")

    repo.write("app.py", "def two(): ...\n")
    git(repo.root, "commit", "-qam", "two")
    monkeypatch.setattr("codeplane.session.operation.git._next_calls", fails)
    error = repo.error("git_reset", ref="HEAD~1", mode="hard")
    row = repo.session.ledger.operations(limit=1)[0]
    assert f"The change was made and stays ({row.operation_id}: app.py)" in error["message"]
    assert error["hints"][0] == f'undo {{"operation": "{row.operation_id}"}}' and not error["retryable"]


def test_a_long_pass_of_the_index_is_not_waited_for(repo: Repo) -> None:
    git(repo.root, "switch", "-qc", "other")
    for number in range(250):
        repo.write(f"many/m{number}.py", f"X = {number}\n")
    git(repo.root, "add", "-A")
    git(repo.root, "commit", "-qm", "many")
    git(repo.root, "switch", "-q", "main")
    repo.session.index.refresh()
    with repo.session.index._reading:
        repo.session.upkeep.start(None)
        answer = repo.ask("git_checkout", ref="other").body
    assert answer["result"]["files_changed"] == 250
    assert answer["result"]["directories"] == ["many: 250 created"] and "files" not in answer["result"]
    assert answer["meta"]["warnings"] == [
        "250 of the files are not indexed yet; definitions and tests are left out."
    ]


def test_a_stop_tells_how_to_go_on(repo: Repo) -> None:
    switched(repo)
    repo.write("app.py", "def one(): ...\n\n\ndef three(): ...\n")
    git(repo.root, "commit", "-qam", "else")
    answer = repo.ask("git_merge", ref="other").body
    assert "tests" not in answer["result"]
    assert answer["meta"]["next_actions"] == [
        'git_merge {"action": "continue"}',
        'git_merge {"action": "abort"}',
    ]


def test_a_rebase_that_waits_for_an_edit_tells_how_to_go_on(repo: Repo) -> None:
    switched(repo)
    git(repo.root, "switch", "-q", "other")
    answer = repo.ask("git_rebase", upstream="HEAD~1", steps=[{"action": "edit", "sha": "HEAD"}]).body
    assert answer["result"]["state"] == "edit_pause"
    assert answer["meta"]["next_actions"][0] == 'git_rebase {"action": "continue"}'


def test_what_was_saved_is_brought_back_by_the_next_action(repo: Repo) -> None:
    repo.write("app.py", "mine\n")
    answer = repo.ask("git_reset", mode="hard", force=True).body
    [hint] = answer["meta"]["next_actions"]
    tool, _, arguments = hint.partition(" ")
    repo.result(tool, **json.loads(arguments))
    assert (repo.root / "app.py").read_text() == "mine\n"


def test_a_branch_that_is_named_without_an_action_is_told_how_to_make(repo: Repo) -> None:
    answer = repo.ask("git_branch", name="fresh").body
    assert answer["result"]["branches"] == []
    assert answer["meta"]["warnings"] == [
        "No branch is named fresh, and none was created: the action was list."
    ]
    assert answer["meta"]["next_actions"] == ['git_branch {"action": "create", "name": "fresh"}']
    assert "warnings" not in repo.ask("git_branch", name="main").body["meta"]


def test_the_plan_of_a_rebase_is_taken_back_as_it_came_or_edited(repo: Repo) -> None:
    for name in ("a", "b", "c"):
        repo.write(f"{name}.txt", f"{name}\n")
        repo.result("git_stage_and_commit", message=name)
    plan = repo.result("git_rebase", action="plan", upstream="HEAD~3")
    repo.result("git_rebase", **plan)
    assert git(repo.root, "log", "--format=%s").split() == ["c", "b", "a", "start"]
    plan = repo.result("git_rebase", action="plan", upstream="HEAD~3")
    pick, meld, drop = plan["steps"]
    steps = "\n".join([pick, meld.replace("pick", "fixup"), "# dropped", f"d {drop.split()[1][:8]}"])
    repo.result("git_rebase", upstream="HEAD~3", steps=steps)
    assert git(repo.root, "log", "--format=%s").split() == ["a", "start"]
    assert (repo.root / "b.txt").exists() and not (repo.root / "c.txt").exists()


def test_what_git_has_done_is_on_record_and_told_when_looking_at_it_fails(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise RecursionError("too deep")

    repo.write("app.py", "def two(): ...\n")
    head = git(repo.root, "rev-parse", "HEAD")
    git(repo.root, "commit", "-qam", "two")
    monkeypatch.setattr("codeplane.session.operation.git._status_line", fails)
    answer = repo.ask("git_reset", ref="HEAD~1", mode="hard")
    assert not answer.is_error and git(repo.root, "rev-parse", "HEAD") == head
    assert "its effects are unknown" in answer.text and "undo: op_" in answer.text
    row = repo.session.ledger.operations(limit=1)[0]
    assert (row.op_type, row.success, row.head_after) == ("git_reset", True, head)


def test_an_operation_that_fails_in_an_unknown_way_is_on_record(repo: Repo) -> None:
    def fails(handle: pygit2.Repository) -> None:
        git(repo.root, "commit", "-q", "--allow-empty", "-m", "empty")
        raise RecursionError("too deep")

    with pytest.raises(RecursionError):
        change(call(repo), "git_reset", act(repo, fails))
    row = repo.session.ledger.operations(limit=1)[0]
    assert (row.success, row.failure_class) == (False, "RecursionError")
    assert row.head_after == git(repo.root, "rev-parse", "HEAD") != row.head_before


def test_a_merge_is_foreseen_with_its_conflicts_and_nothing_is_changed(repo: Repo) -> None:
    git(repo.root, "switch", "-qc", "other")
    repo.write("app.py", "def two(): ...\n")
    repo.write("new.py", "x = 1\n")
    git(repo.root, "add", "-A")
    git(repo.root, "commit", "-qm", "theirs")
    git(repo.root, "switch", "-q", "main")
    forward = repo.ask("git_merge", ref="other", dry_run=True)
    assert forward.text.splitlines()[1:] == ["M app.py", "A new.py"]
    assert forward.text.startswith("would fast-forward to ")
    repo.write("app.py", "def three(): ...\n")
    git(repo.root, "commit", "-qam", "ours")
    repo.write("new.py", "mine = 1\n")
    state = git(repo.root, "status", "--porcelain"), git(repo.root, "rev-parse", "HEAD")
    text = repo.ask("git_merge", ref="other", dry_run=True).text
    assert text.startswith("would stop: 1 path in conflict")
    assert "<<<<<<< ours\ndef three(): ...\n=======\ndef two(): ...\n>>>>>>> theirs" in text
    assert "local changes in the way: new.py" in text
    assert (git(repo.root, "status", "--porcelain"), git(repo.root, "rev-parse", "HEAD")) == state
    assert repo.session.ledger.operations(limit=1) == []
