"""A commit has what git's own has: tree, parents, message, index; hooks may change or refuse it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeplane.core.errors import (
    CodePlaneError,
    GitBusy,
    GitFailed,
    GitUnfinished,
    HookRefused,
    InvalidArgument,
    NothingToCommit,
)
from codeplane.core.paths import RepoPath
from codeplane.git import open_repository
from codeplane.git.commit.commit import CommitOutcome, CommitRequest, commit, stage_and_commit
from codeplane.git.repo.pathspec import Selection
from codeplane.git.repo.state import begin_writing
from codeplane.git.staging.stage import StagingRules
from codeplane.process import Programs
from tests.drive import git, new_repo
from tests.git import plain
from tests.git.histories import NAMES, World, made, worlds
from tests.git.repo.test_hooks import hook

OPEN = StagingRules(lambda _: None, lambda _: None, lambda _: None)
PROGRAMS = Programs({"PATH": os.environ["PATH"]})
MESSAGES = ("Do it\n", "Do it  \n\n\n\n# kept\nmore\t\n\n", "\n\n  first\nsecond", "é\r\nx\r\n")


def identified(root: Path) -> Path:
    git(root, "config", "user.name", "Ada")
    git(root, "config", "user.email", "ada@example.org")
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return identified(new_repo(tmp_path / "repo", {"a.txt": "one\n", "b.txt": "two\n"}))


def committed(
    root: Path,
    message: str | None = "Do it",
    *,
    only: tuple[str, ...] = (),
    trusted: bool = False,
    **more: object,
) -> CommitOutcome:
    chosen = Selection(frozenset(map(RepoPath, only))) if only else None
    wanted = CommitRequest(message, **more)  # type: ignore[arg-type]
    return commit(open_repository(root, trusted=trusted), PROGRAMS, wanted, OPEN, chosen)


def all_committed(root: Path, *paths: str, trusted: bool = False, **more: object) -> CommitOutcome:
    chosen = Selection(frozenset(map(RepoPath, paths)))
    wanted = CommitRequest("Do it", **more)  # type: ignore[arg-type]
    return stage_and_commit(open_repository(root, trusted=trusted), PROGRAMS, wanted, OPEN, chosen)


def seen(root: Path) -> tuple[bytes, ...]:
    """What must be equal: ids of commits differ by their moments."""
    return (
        plain.run(root, "log", "-2", "--format=%T %B"),
        plain.run(root, "rev-list", "--count", "HEAD"),
        plain.run(root, "ls-files", "-s", "-z"),
        plain.run(root, "status", "--porcelain", "-z"),
    )


@st.composite
def asked(draw: st.DrawFn) -> tuple[str, str, bool, list[str]]:
    how = draw(st.sampled_from(("commit", "commit", "amend", "only", "stage", "stage some")))
    names = st.lists(st.sampled_from((*NAMES, "dir")), min_size=1, max_size=3, unique=True)
    return how, draw(st.sampled_from(MESSAGES)), draw(st.booleans()), draw(names)


def ours_does(root: Path, how: str, message: str, empty: bool, paths: list[str]) -> str:
    wanted = CommitRequest(message, allow_empty=empty, amend=how == "amend")
    chosen = Selection(frozenset(map(RepoPath, paths)))
    repository = open_repository(root, trusted=False)
    try:
        if how.startswith("stage"):
            some = chosen if how == "stage some" else Selection()
            stage_and_commit(repository, PROGRAMS, wanted, OPEN, some)
        else:
            commit(repository, PROGRAMS, wanted, OPEN, chosen if how == "only" else None)
    except CodePlaneError:
        return "refused"
    return "done"


def git_does(root: Path, how: str, message: str, empty: bool, paths: list[str]) -> str:
    before = (root / ".git/index").read_bytes()
    options = [
        "-q",
        "-F",
        "-",
        *(["--allow-empty"] if empty else []),
        *(["--amend"] if how == "amend" else []),
    ]
    try:
        if how.startswith("stage"):
            plain.run(root, "add", "-A", "--", *(paths if how == "stage some" else ["."]))
        only = ["--only", "--", *paths] if how in ("only", "stage some") else []
        plain.run(root, "commit", *options, *only, stdin=message.encode())
    except AssertionError:
        (root / ".git/index").write_bytes(before)
        return "refused"
    return "done"


def check_one(world: World, ask: tuple[str, str, bool, list[str]]) -> None:
    with made(world, copies=2) as (ours, theirs):
        identified(ours)
        assert ours_does(ours, *ask) == git_does(theirs, *ask)
        assert seen(ours) == seen(theirs)
        assert plain.run(ours, "fsck", "--strict", "--no-dangling") == b""


@settings(max_examples=6)
@given(worlds(most=2), asked())
def test_a_commit_is_as_gits(world: World, ask: tuple[str, str, bool, list[str]]) -> None:
    check_one(world, ask)


@pytest.mark.soak
@settings(max_examples=1000)
@given(worlds(most=2), asked())
def test_many_commits_are_as_gits(world: World, ask: tuple[str, str, bool, list[str]]) -> None:
    check_one(world, ask)


def test_the_first_commit_has_no_parent(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q")
    identified(root)
    (root / "a.txt").write_text("one\n")
    with pytest.raises(NothingToCommit, match=r"a\.txt"):
        committed(root)
    with pytest.raises(NothingToCommit, match="amend"):
        committed(root, amend=True)
    done = all_committed(root, "a.txt")
    assert (done.insertions, [one.kind for one in done.changes]) == (1, ["A"])
    assert git(root, "reflog", "-1", "--format=%gs") == "commit (initial): Do it"


def test_a_commit_that_fails_leaves_the_index_as_it_was(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codeplane.git.repo.lock_retry._LONGEST_SEC", 0.1)
    (root / "a.txt").write_text("changed\n")
    before = (root / ".git/index").read_bytes()
    (root / ".git/refs/heads/main.lock").touch()
    for paths in ((), ("a.txt",)):
        with pytest.raises(GitBusy):
            all_committed(root, *paths)
        assert (root / ".git/index").read_bytes() == before
    assert not list((root / ".git").glob("next-index*"))


def test_only_the_chosen_files_are_committed_and_the_others_stay_staged(root: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (root / name).write_text("changed\n")
    git(root, "add", "b.txt")
    assert [one.path for one in committed(root, only=("a.txt",)).changes] == ["a.txt"]
    assert git(root, "status", "--porcelain") == "M  b.txt"


def conflicted(root: Path, *how: str) -> None:
    git(root, "switch", "-qc", "other")
    (root / "a.txt").write_text("theirs\n")
    git(root, "commit", "-qam", "theirs", "--author", "Bea <bea@example.org>")
    git(root, "switch", "-q", "main")
    (root / "a.txt").write_text("ours\n")
    git(root, "commit", "-qam", "ours")
    subprocess.run(["git", *how, "other"], cwd=root, capture_output=True, check=False)


def test_a_commit_concludes_a_merge(root: Path) -> None:
    conflicted(root, "merge")
    with pytest.raises(GitUnfinished, match=r"a\.txt"):
        committed(root)
    (root / "a.txt").write_text("both\n")
    git(root, "add", "a.txt")
    for more in ({"amend": True}, {"only": ("a.txt",)}):
        with pytest.raises(GitUnfinished):
            committed(root, **more)
    committed(root, None)
    assert git(root, "log", "-1", "--format=%B") == "Merge branch 'other'"
    assert git(root, "rev-parse", "HEAD^2") == git(root, "rev-parse", "other")
    assert "not concluded" not in git(root, "status") and not (root / ".git/MERGE_HEAD").exists()


def test_a_commit_concludes_a_cherry_pick_in_its_authors_name(root: Path) -> None:
    conflicted(root, "cherry-pick")
    (root / "a.txt").write_text("both\n")
    git(root, "add", "a.txt")
    committed(root, None)
    assert git(root, "log", "-1", "--format=%an %cn %s") == "Bea Ada theirs"
    assert "cherry" not in git(root, "status")


def test_amending_keeps_the_author_and_the_moment(root: Path) -> None:
    before = git(root, "log", "-1", "--format=%an %at")
    done = committed(root, None, amend=True)
    assert git(root, "log", "-1", "--format=%an %at") == before
    assert (done.subject, git(root, "log", "-1", "--format=%cn")) == ("start", "Ada")
    assert git(root, "reflog", "-1", "--format=%gs") == "commit (amend): start"


def test_a_hook_may_change_what_is_committed(root: Path) -> None:
    hooks = root / ".git/hooks"
    hook(hooks, "pre-commit", "echo formatted > a.txt; git add a.txt")
    hook(hooks, "prepare-commit-msg", 'echo "$2" > prepared')
    hook(hooks, "commit-msg", 'echo "# Reviewed" >> "$1"')
    hook(hooks, "post-commit", "git rev-parse HEAD > posted")
    (root / "a.txt").write_text("changed\n")
    git(root, "add", "a.txt")
    done = committed(root, trusted=True)
    assert git(root, "show", "HEAD:a.txt") == "formatted"
    assert git(root, "log", "-1", "--format=%B") == "Do it\n# Reviewed"
    assert (root / "posted").read_text().strip() == done.commit
    assert (root / "prepared").read_text() == "message\n"


def test_a_hook_sees_only_the_chosen_files(root: Path) -> None:
    hook(root / ".git/hooks", "pre-commit", "git diff --cached --name-only > listed")
    for name in ("a.txt", "b.txt"):
        (root / name).write_text("changed\n")
    git(root, "add", "b.txt")
    committed(root, only=("a.txt",), trusted=True)
    assert (root / "listed").read_text() == "a.txt\n"


@pytest.mark.parametrize("name", ["pre-commit", "prepare-commit-msg", "commit-msg"])
def test_a_hook_may_refuse_and_staging_is_taken_back(root: Path, name: str) -> None:
    hook(root / ".git/hooks", name, "git add b.txt; echo not so; exit 1")
    for one in ("a.txt", "b.txt"):
        (root / one).write_text("changed\n")
    before, head = (root / ".git/index").read_bytes(), git(root, "rev-parse", "HEAD")
    with pytest.raises(HookRefused) as refused:
        all_committed(root, trusted=True)
    assert refused.value.details["output"] == "not so"
    assert ((root / ".git/index").read_bytes(), git(root, "rev-parse", "HEAD")) == (before, head)


def test_a_refusing_hook_leaves_what_it_staged_where_git_does(root: Path) -> None:
    hook(root / ".git/hooks", "pre-commit", "git add b.txt; exit 1")
    for one in ("a.txt", "b.txt"):
        (root / one).write_text("changed\n")
    git(root, "add", "a.txt")
    with pytest.raises(HookRefused):
        committed(root, trusted=True)
    assert git(root, "diff", "--cached", "--name-only") == "a.txt\nb.txt"


def test_hooks_may_be_passed_over(root: Path) -> None:
    hook(root / ".git/hooks", "pre-commit", "exit 1")
    committed(root, trusted=True, allow_empty=True, verify=False)


def test_amending_tells_the_hook_that_rewrites_are_told_to(root: Path) -> None:
    hook(root / ".git/hooks", "post-rewrite", 'echo "$1 $(cat)" > told')
    before = git(root, "rev-parse", "HEAD")
    done = committed(root, "Anew", amend=True, trusted=True)
    assert (root / "told").read_text() == f"amend {before} {done.commit}\n"


def test_an_untrusted_repository_runs_nothing_and_says_so(root: Path) -> None:
    names = ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit")
    for name in names:
        hook(root / ".git/hooks", name, f"touch ran-{name}")
    done = committed(root, allow_empty=True)
    assert [note.split()[2] for note in done.notes] == list(names)
    assert not list(root.glob("ran-*"))


@pytest.mark.parametrize("message", ["", " \n\t\n", "a\0b"])
def test_a_message_that_says_nothing_is_refused(root: Path, message: str) -> None:
    with pytest.raises(InvalidArgument):
        committed(root, message, allow_empty=True)


def test_the_cleaning_that_is_set_holds(root: Path) -> None:
    git(root, "config", "commit.cleanup", "strip")
    committed(root, "# no\nyes\n", allow_empty=True)
    assert git(root, "log", "-1", "--format=%B") == "yes"
    git(root, "config", "commit.cleanup", "verbatim")
    committed(root, "yes  \n\n\n", allow_empty=True)
    assert plain.run(root, "log", "-1", "--format=%B") == b"yes  \n\n\n\n"


def test_a_file_that_git_only_expects_is_not_committed(root: Path) -> None:
    (root / "n.txt").write_text("new\n")
    git(root, "add", "-N", "n.txt")
    (root / "a.txt").write_text("changed\n")
    git(root, "add", "a.txt")
    committed(root)
    assert git(root, "ls-tree", "--name-only", "HEAD") == "a.txt\nb.txt"
    assert git(root, "status", "--porcelain") == "A n.txt"


def test_no_other_program_stages_meanwhile(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.txt", "b.txt"):
        (root / name).write_text("changed\n")
    before = (root / ".git/index").read_bytes()

    def fails(*_: object, **__: object) -> None:
        assert b"index.lock" in plain.run(root, "add", "b.txt", fails=True)
        raise GitBusy("no")

    monkeypatch.setattr("codeplane.git.commit.commit.make_commit", fails)
    with pytest.raises(GitBusy):
        all_committed(root, "a.txt")
    assert (root / ".git/index").read_bytes() == before
    assert [one.name for one in (root / ".git").glob("*index*")] == ["index"]


def test_a_linked_worktree_commits_to_its_own_branch(root: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    git(root, "worktree", "add", "-q", "-b", "side", str(linked))
    (linked / "a.txt").write_text("changed\n")
    oid = all_committed(linked).commit
    assert (git(root, "rev-parse", "side"), git(root, "status", "--porcelain")) == (oid, "")
    assert git(linked, "reflog", "-1", "--format=%H %gs") == f"{oid} commit: Do it"
    (linked / "a.txt").write_text("again\n")
    committed(linked, only=("a.txt",))
    assert git(linked, "status", "--porcelain") == ""


def test_what_a_hook_stages_is_staged_after_one_step_too(root: Path) -> None:
    hook(
        root / ".git/hooks",
        "pre-commit",
        "echo formatted > a.txt; git add a.txt; git diff --cached > /dev/null",
    )
    (root / "a.txt").write_text("changed\n")
    (root / "n.txt").write_text("new\n")
    all_committed(root, trusted=True)
    assert git(root, "show", "HEAD:a.txt") == "formatted" and git(root, "status", "--porcelain") == ""


def test_what_the_system_refuses_is_told_and_changes_nothing(root: Path) -> None:
    (root / ".git/COMMIT_EDITMSG").unlink()
    (root / ".git/COMMIT_EDITMSG/in the way").mkdir(parents=True)
    (root / "a.txt").write_text("changed\n")
    before = (root / ".git/index").read_bytes()
    with pytest.raises(GitFailed, match="directory"):
        all_committed(root)
    assert (root / ".git/index").read_bytes() == before and not (root / ".git/index.lock").exists()


def test_what_was_cut_off_while_files_were_written_is_not_committed(tmp_path: Path) -> None:
    root = new_repo(tmp_path / "repo")
    begin_writing(open_repository(root, trusted=False), plain.text(root, "rev-parse", "HEAD^{tree}"))
    (root / "README.md").write_text("half\n")
    plain.run(root, "add", "-A")
    repository, wanted = open_repository(root, trusted=False), CommitRequest("half")
    with pytest.raises(GitUnfinished, match="interrupted"):
        commit(repository, PROGRAMS, wanted, OPEN)
    with pytest.raises(GitUnfinished, match="interrupted"):
        stage_and_commit(repository, PROGRAMS, wanted, OPEN, Selection())


@pytest.mark.parametrize("is_there", [False, True])
def test_a_path_that_is_staged_as_deleted_is_committed_alone(root: Path, is_there: bool) -> None:
    git(root, "rm", "-q", "--cached", "a.txt")
    if not is_there:
        (root / "a.txt").unlink()
    theirs = root.parent / "theirs"
    shutil.copytree(root, theirs)
    ask = ("only", "Do it", True, ["a.txt"])
    assert ours_does(root, *ask) == git_does(theirs, *ask) == "done"
    assert seen(root) == seen(theirs)
