"""Stashes are git's own: made here and taken up there, and the other way round."""

import os
import shutil
import time
from pathlib import Path

import pytest

from codeplane.core.errors import GitFailed, GitUnfinished, InvalidArgument, NotFound, WorkAtRisk
from codeplane.core.paths import RepoPath
from codeplane.git import Repository, open_repository
from codeplane.git.ops.stash import (
    StashOutcome,
    clear_stashes,
    drop_stash,
    find_stash,
    list_stashes,
    push_stash,
    stash_patch,
)
from codeplane.git.ops.stash_apply import apply_stash, pop_stash
from codeplane.git.repo.pathspec import Selection
from codeplane.git.worktree.autosave import drop_saved, save_work
from codeplane.process import Programs
from tests.drive import git, new_repo
from tests.git import plain

PROGRAMS = Programs({"PATH": os.environ["PATH"]})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return new_repo(tmp_path / "repo", {"a": "one\ntwo\nthree\n", "b": "b\n", ".gitignore": "*.log\n"})


@pytest.fixture
def repository(root: Path) -> Repository:
    return open_repository(root, trusted=False)


def taken_up(repository: Repository, ref: str | None = None, **options: bool) -> StashOutcome:
    return pop_stash(repository, PROGRAMS, find_stash(repository, ref), **options)


def status(root: Path) -> list[str]:
    return plain.run(root, "status", "--porcelain").decode().splitlines()


def test_git_takes_up_what_was_put_aside_here(root: Path, repository: Repository) -> None:
    (root / "a").write_text("staged\n")
    git(root, "add", "a")
    (root / "a").write_text("work\n")
    (root / "new").write_text("new\n")
    (root / "x.log").write_text("ignored\n")
    push_stash(repository, PROGRAMS, message="mine", untracked=True)
    assert status(root) == [] and (root / "x.log").exists()
    assert git(root, "stash", "list") == "stash@{0}: On main: mine"
    git(root, "stash", "pop", "-q", "--index")
    assert status(root) == ["MM a", "?? new"] and git(root, "show", ":a") == "staged"


def test_what_git_put_aside_is_taken_up_here(root: Path, repository: Repository) -> None:
    (root / "a").write_text("staged\n")
    git(root, "add", "a")
    (root / "a").write_text("work\n")
    (root / "new").write_text("new\n")
    git(root, "stash", "-u")
    taken_up(repository, index=True)
    assert status(root) == ["MM a", "?? new"] and list_stashes(repository) == []


def test_what_conflicts_is_described_and_stays_in_the_list(root: Path, repository: Repository) -> None:
    (root / "a").write_text("one\nmine\nthree\n")
    push_stash(repository, PROGRAMS)
    (root / "a").write_text("one\ntheirs\nthree\n")
    git(root, "commit", "-qam", "theirs")
    done = taken_up(repository)
    assert [one.path for one in done.conflicts] == ["a"] and "kept" in done.summary
    assert (root / "a").read_text() == (
        "one\n<<<<<<< Updated upstream\ntheirs\n=======\nmine\n>>>>>>> Stashed changes\nthree\n"
    )
    assert status(root) == ["UU a"] and len(list_stashes(repository)) == 1
    with pytest.raises(GitUnfinished, match="these paths first: a"):
        taken_up(repository)
    with pytest.raises(GitUnfinished):
        push_stash(repository, PROGRAMS)


def test_what_is_staged_may_stay(root: Path, repository: Repository) -> None:
    (root / "a").write_text("staged\n")
    git(root, "add", "a")
    (root / "b").write_text("work\n")
    push_stash(repository, PROGRAMS, keep_index=True)
    assert status(root) == ["M  a"]


def test_only_the_paths_that_are_named_are_put_aside(root: Path, repository: Repository) -> None:
    (root / "a").write_text("work\n")
    (root / "b").write_text("work\n")
    push_stash(repository, PROGRAMS, selection=Selection(frozenset({RepoPath("b")})))
    assert status(root) == [" M a"]
    taken_up(repository)
    assert status(root) == [" M a", " M b"]
    with pytest.raises(NotFound):
        push_stash(repository, PROGRAMS, selection=Selection(frozenset({RepoPath("none")})))


def test_an_untracked_file_in_the_way_is_not_written_over(root: Path, repository: Repository) -> None:
    (root / "new").write_text("aside\n")
    push_stash(repository, PROGRAMS, untracked=True)
    (root / "new").write_text("another\n")
    with pytest.raises(WorkAtRisk, match="untracked: new"):
        taken_up(repository)
    done = taken_up(repository, force=True)
    assert (root / "new").read_text() == "aside\n" and status(root) == ["?? new"]
    assert git(root, "show", f"{done.saved}^3:new") == "another"


@pytest.fixture
def nested(tmp_path: Path) -> Path:
    """With a directory that a file can take the place of."""
    return new_repo(tmp_path / "nested", {"a": "a\n", "x/y": "y\n"})


def turn(root: Path, text: str = "mine\n") -> None:
    """A file that is not tracked in the place of the directory."""
    shutil.rmtree(root / "x", ignore_errors=True)
    (root / "x").write_text(text)


def test_an_untracked_file_in_the_place_of_a_directory_is_not_lost(nested: Path) -> None:
    repository = open_repository(nested, trusted=False)
    (nested / "a").write_text("changed\n")
    turn(nested)
    with pytest.raises(WorkAtRisk, match="untracked: x") as refused:
        push_stash(repository, PROGRAMS)
    assert "--include-untracked" in refused.value.hints[0]
    assert (nested / "x").read_text() == "mine\n" and list_stashes(repository) == []
    push_stash(repository, PROGRAMS, untracked=True)
    assert status(nested) == []
    taken_up(repository)
    assert status(nested) == [" M a", " D x/y", "?? x"] and (nested / "x").read_text() == "mine\n"


def test_a_file_that_is_staged_for_a_directory_is_put_aside_and_taken_up(nested: Path) -> None:
    repository = open_repository(nested, trusted=False)
    turn(nested)
    git(nested, "add", "-A")
    push_stash(repository, PROGRAMS)
    assert status(nested) == [] and (nested / "x" / "y").exists()
    taken_up(repository, index=True)
    assert status(nested) == ["A  x", "D  x/y"]


def test_what_stands_where_a_new_file_was_staged_is_taken_up(root: Path, repository: Repository) -> None:
    (root / "x").mkdir()
    (root / "x" / "y").write_text("staged\n")
    git(root, "add", "x")
    turn(root)
    push_stash(repository, PROGRAMS, untracked=True)
    taken_up(repository)
    assert status(root) == ["?? x"] and (root / "x").read_text() == "mine\n"


def test_a_stash_that_has_both_is_refused_with_nothing_done(root: Path, repository: Repository) -> None:
    (root / "x").mkdir()
    (root / "x" / "y").write_text("staged\n")
    git(root, "add", "x")
    turn(root)
    git(root, "stash", "-u")
    with pytest.raises(GitFailed, match="x as a file and as a directory") as refused:
        taken_up(repository)
    assert status(root) == [] and len(list_stashes(repository)) == 1
    assert git(root, *refused.value.hints[0].split()[1:]) == "mine"


def test_a_file_that_was_untracked_and_is_tracked_now_stays_so(root: Path, repository: Repository) -> None:
    (root / "new").write_text("new\n")
    push_stash(repository, PROGRAMS, untracked=True)
    (root / "new").write_text("new\n")
    git(root, "add", "new")
    git(root, "commit", "-qm", "Add it")
    taken_up(repository)
    assert status(root) == []


def test_a_stash_is_found_by_place_commit_and_reference(root: Path, repository: Repository) -> None:
    for text in ("first\n", "second\n"):
        (root / "a").write_text(text)
        push_stash(repository, PROGRAMS, message=text.strip())
    first = find_stash(repository, "stash@{1}")
    assert (
        first.message == "On main: first"
        and find_stash(repository, "1") == find_stash(repository, first.commit) == first
    )
    files, text, is_cut = stash_patch(repository, first, 1000)
    assert files == ["M a"] and "+first" in text and not is_cut and stash_patch(repository, first, 10)[2]
    with pytest.raises(NotFound, match="the list has 2"):
        find_stash(repository, "stash@{2}")
    with pytest.raises(InvalidArgument, match="not a stash"):
        find_stash(repository, "HEAD")


def test_what_is_dropped_can_still_be_applied(root: Path, repository: Repository) -> None:
    (root / "a").write_text("work\n")
    push_stash(repository, PROGRAMS)
    (gone,) = drop_stash(repository, find_stash(repository, None)).dropped
    assert list_stashes(repository) == [] and git(root, "stash", "list") == ""
    apply_stash(repository, PROGRAMS, find_stash(repository, gone))
    assert status(root) == [" M a"]
    with pytest.raises(InvalidArgument, match="not in the list"):
        drop_stash(repository, find_stash(repository, gone))
    push_stash(repository, PROGRAMS)
    assert clear_stashes(repository).dropped != () and list_stashes(repository) == []


def test_what_was_staged_is_not_staged_over_something_else(root: Path, repository: Repository) -> None:
    (root / "a").write_text("one\nmine\nthree\n")
    git(root, "add", "a")
    push_stash(repository, PROGRAMS)
    (root / "a").write_text("one\ntheirs\nthree\n")
    git(root, "commit", "-qam", "theirs")
    with pytest.raises(GitFailed, match="conflicts with the index"):
        taken_up(repository, index=True)


def test_names_that_are_not_utf8_are_put_aside_too(root: Path, repository: Repository) -> None:
    name = os.fsdecode(b"caf\xe9")
    (root / name).write_bytes(b"\xff\n")
    push_stash(repository, PROGRAMS, untracked=True)
    assert not (root / name).exists()
    taken_up(repository)
    assert (root / name).read_bytes() == b"\xff\n"


def test_a_link_is_put_aside_as_a_link(root: Path, repository: Repository, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("untouched\n")
    (root / "b").unlink()
    (root / "b").symlink_to(tmp_path / "outside")
    push_stash(repository, PROGRAMS)
    assert (root / "b").read_text() == "b\n" and not (root / "b").is_symlink()
    taken_up(repository)
    assert (root / "b").is_symlink() and (tmp_path / "outside").read_text() == "untouched\n"


def test_what_was_saved_goes_when_it_is_old_and_nobody_needs_it(root: Path, repository: Repository) -> None:
    names = []
    for text in ("first", "second"):
        (root / "a").write_text(text)
        with repository.opened() as handle:
            names.append(save_work(repository, handle, text))
    assert drop_saved(repository, time.time() - 60, lambda _: False) == 0
    assert drop_saved(repository, time.time() + 60, lambda name: name == names[0]) == 1
    assert [one.ref for one in list_stashes(repository)] == [names[0]]
