"""What a name means when it is checked out, what is refused, and what git finds afterwards."""

import os
from pathlib import Path

import pytest

from codeplane.core.errors import (
    GitUnfinished,
    InvalidArgument,
    NotFound,
    RevisionNotFound,
    WorkAtRisk,
)
from codeplane.core.paths import RepoPath
from codeplane.git import open_repository
from codeplane.git.ops.branches import (
    create_branch,
    delete_branch,
    list_branches,
    rename_branch,
    set_upstream,
)
from codeplane.git.ops.checkout import check_out, find_target, new_branch, restore_paths
from codeplane.git.ops.reset import ResetMode, reset_head, reset_paths
from codeplane.git.repo.outcome import Outcome
from codeplane.git.repo.pathspec import Selection
from codeplane.process import Programs
from tests.drive import git, new_repo
from tests.git import plain

PROGRAMS = Programs({"PATH": os.environ["PATH"]})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = new_repo(tmp_path / "repo", {"a": "a\n", "b": "b\n"})
    git(root, "checkout", "-qb", "other")
    (root / "a").write_text("other\n")
    git(root, "commit", "-qam", "other")
    git(root, "checkout", "-q", "main")
    return root


def go(root: Path, ref: str, *, detach: bool = False, trusted: bool = False) -> Outcome:
    repository = open_repository(root, trusted=trusted)
    return check_out(repository, PROGRAMS, find_target(repository, ref, detach=detach))


def paths(*names: str) -> Selection:
    return Selection(frozenset(map(RepoPath, names)))


def log(root: Path) -> str:
    return git(root, "reflog", "-1", "--format=%gs")


def test_the_log_of_head_says_what_git_says_and_minus_goes_back(root: Path) -> None:
    go(root, "other")
    assert log(root) == "checkout: moving from main to other"
    go(root, "-")
    assert git(root, "branch", "--show-current") == "main" and git(root, "rev-parse", "@{-1}") == git(
        root, "rev-parse", "other"
    )
    git(root, "checkout", "-q", "-")
    assert git(root, "branch", "--show-current") == "other"


def test_a_commit_or_a_tag_is_checked_out_detached(root: Path) -> None:
    git(root, "tag", "-am", "one", "v1", "other")
    assert "detached" in go(root, "v1").summary
    assert git(root, "rev-parse", "HEAD") == git(root, "rev-parse", "other")
    go(root, "-")
    assert git(root, "branch", "--show-current") == "main"
    go(root, "other", detach=True)
    assert git(root, "branch", "--show-current") == ""


def test_head_stays_on_its_branch(root: Path) -> None:
    go(root, "HEAD")
    assert git(root, "branch", "--show-current") == "main"


def test_a_branch_that_one_remote_has_is_made_and_follows_it(root: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(root), str(clone))
    done = go(clone, "other")
    assert done.summary == "switched to new branch other, which tracks origin/other"
    assert git(clone, "rev-parse", "--abbrev-ref", "@{u}") == "origin/other"
    git(clone, "remote", "add", "-f", "second", str(root))
    git(clone, "checkout", "-q", "main")
    git(clone, "branch", "-qD", "other")
    with pytest.raises(InvalidArgument, match="Several remotes") as refused:
        go(clone, "other")
    assert refused.value.hints[0].endswith(" origin/other")
    repository = open_repository(clone, trusted=False)
    check_out(repository, PROGRAMS, new_branch(repository, "mine", "second/other"))
    assert git(clone, "rev-parse", "--abbrev-ref", "@{u}") == "second/other"


def test_a_branch_of_another_worktree_is_refused_with_its_place(root: Path, tmp_path: Path) -> None:
    git(root, "worktree", "add", "-q", str(tmp_path / "linked"), "other")
    for at, name in ((root, "other"), (tmp_path / "linked", "main")):
        with pytest.raises(InvalidArgument, match="checked out in the worktree") as refused:
            go(at, name)
        assert refused.value.details["worktree"] in (str(tmp_path / "linked"), str(root))
    with pytest.raises(InvalidArgument):
        delete_branch(open_repository(root, trusted=False), "other", force=True)


def test_nothing_is_checked_out_in_the_middle_of_a_merge(root: Path) -> None:
    (root / "a").write_text("mine\n")
    git(root, "commit", "-qam", "mine")
    plain.run(root, "merge", "other", fails=True)
    with pytest.raises(GitUnfinished, match="a merge") as refused:
        go(root, "other")
    assert refused.value.hints == ("git merge --continue", "git merge --abort")
    repository = open_repository(root, trusted=False)
    with pytest.raises(GitUnfinished):
        reset_head(repository, PROGRAMS, "HEAD", ResetMode.SOFT)
    with pytest.raises(InvalidArgument, match="Unmerged"):
        restore_paths(repository, PROGRAMS, paths("a"))
    reset_head(repository, PROGRAMS, "HEAD", ResetMode.HARD, force=True)
    assert plain.run(root, "status", "--porcelain") == b"" and not (root / ".git/MERGE_HEAD").exists()


def test_a_hook_after_the_checkout_runs_where_it_is_trusted(root: Path) -> None:
    hook = root / ".git/hooks/post-checkout"
    hook.write_text('#!/bin/sh\necho "$1 $2 $3" > told\n')
    hook.chmod(0o755)
    assert go(root, "other").notes == (
        "The hook post-checkout was not run: the repository is not trusted (cpl trust).",
    )
    assert not (root / "told").exists()
    go(root, "main", trusted=True)
    ids = [git(root, "rev-parse", name) for name in ("other", "main")]
    assert (root / "told").read_text().split() == [*ids, "1"]


def test_a_new_branch_before_the_first_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    repository = open_repository(tmp_path, trusted=False)
    check_out(repository, PROGRAMS, new_branch(repository, "begin", None))
    assert git(tmp_path, "symbolic-ref", "HEAD") == "refs/heads/begin"
    with pytest.raises(RevisionNotFound):
        go(tmp_path, "main")


def test_files_are_restored_from_a_commit_and_need_force(root: Path) -> None:
    repository = open_repository(root, trusted=False)
    restore_paths(repository, PROGRAMS, paths("a"), ref="other")
    assert git(root, "status", "--porcelain") == "M  a"
    with pytest.raises(WorkAtRisk, match="staged: a"):
        restore_paths(repository, PROGRAMS, paths("a"), ref="main")
    done = restore_paths(repository, PROGRAMS, paths("a"), ref="main", force=True)
    assert git(root, "status", "--porcelain") == "" and done.saved is not None
    with pytest.raises(NotFound):
        restore_paths(repository, PROGRAMS, paths("none"), ref="main")


def test_a_staged_content_that_no_file_has_is_kept_by_a_reset(root: Path) -> None:
    (root / "a").write_text("staged\n")
    git(root, "add", "a")
    (root / "a").write_text("work\n")
    done = reset_paths(open_repository(root, trusted=False), "HEAD", paths("a"))
    assert (root / "a").read_text() == "work\n" and git(root, "status", "--porcelain") == "M a"
    assert git(root, "show", f"{done.saved}^2:a") == "staged"


def test_a_reset_goes_where_the_log_says(root: Path) -> None:
    git(root, "commit", "-q", "--allow-empty", "-m", "empty")
    repository = open_repository(root, trusted=False)
    before = git(root, "rev-parse", "HEAD")
    reset_head(repository, PROGRAMS, "HEAD@{1}", ResetMode.KEEP)
    assert log(root) == "reset: moving to HEAD@{1}" and git(root, "rev-parse", "ORIG_HEAD") == before
    reset_head(repository, PROGRAMS, "ORIG_HEAD", ResetMode.KEEP)
    assert git(root, "rev-parse", "HEAD") == before


def test_branches_say_what_they_follow(root: Path) -> None:
    repository = open_repository(root, trusted=False)
    set_upstream(repository, "other", "main")
    found, more = list_branches(repository, remote=False, most=1)
    assert [one.name for one in found] == ["main"] and found[0].is_current and more == 1
    other = list_branches(repository, remote=False, contains="oth", most=9)[0][0]
    assert other.upstream is not None and (other.upstream.ahead, other.upstream.behind) == (1, 0)
    set_upstream(repository, "other", None)
    assert list_branches(repository, remote=False, contains="oth", most=9)[0][0].upstream is None


def test_a_branch_that_is_not_merged_is_deleted_by_force_and_can_be_made_again(root: Path) -> None:
    repository = open_repository(root, trusted=False)
    was = git(root, "rev-parse", "other")
    with pytest.raises(WorkAtRisk, match="commits that HEAD lacks"):
        delete_branch(repository, "other")
    assert delete_branch(repository, "other", force=True).old_tip == was
    create_branch(repository, "other", was)
    assert git(root, "rev-parse", "other") == was


def test_the_branch_that_is_checked_out_gets_another_name(root: Path) -> None:
    repository = open_repository(root, trusted=False)
    rename_branch(repository, None, "trunk")
    assert git(root, "branch", "--show-current") == "trunk"
    assert "renamed refs/heads/main" in git(root, "reflog", "-1", "--format=%gs", "trunk")
    with pytest.raises(InvalidArgument, match="exists"):
        rename_branch(repository, None, "other")


def test_a_keep_reset_leaves_new_files_below_the_name_of_a_file_that_goes(root: Path) -> None:
    (root / "x").write_text("x\n")
    git(root, "add", "x")
    git(root, "commit", "-qm", "x")
    (root / "x").unlink()
    (root / "x").mkdir()
    (root / "x/new").write_text("work\n")
    git(root, "add", "-A")
    reset_head(open_repository(root, trusted=False), PROGRAMS, "HEAD~1", ResetMode.KEEP)
    assert (root / "x/new").read_text() == "work\n"
