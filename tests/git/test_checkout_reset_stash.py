"""Checkout, reset and stash on random histories with work in them: as the git program does them."""

import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pygit2
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from codeplane.core.errors import CodePlaneError, NothingToCommit, WorkAtRisk
from codeplane.git import Repository, open_repository
from codeplane.git.history.tree_diff import diff_trees
from codeplane.git.history.tree_edit import parent_paths
from codeplane.git.ops.checkout import check_out, find_target
from codeplane.git.ops.reset import ResetMode, reset_head
from codeplane.git.ops.stash import find_stash, push_stash
from codeplane.git.ops.stash_apply import pop_stash
from codeplane.process import Programs
from tests.git import plain
from tests.git.accidents import is_accident
from tests.git.histories import World, made, worlds

PROGRAMS = Programs({"PATH": os.environ["PATH"]})
FEW = settings(max_examples=8, suppress_health_check=list(HealthCheck))
MANY = settings(max_examples=1000, suppress_health_check=list(HealthCheck))


def state_of(root: Path) -> plain.State:
    """Without the references that only one of the two makes, or makes with other dates."""
    state = plain.state_of(root)
    kept = [line for line in state.refs.splitlines() if line.startswith((b"refs/heads", b"refs/tags"))]
    return replace(state, refs=b"\n".join(kept))


def by_git(root: Path, *arguments: str) -> bool:
    done = subprocess.run(
        ["git", *arguments], cwd=root, env=plain.environment(root.parent), capture_output=True, check=False
    )
    return done.returncode == 0


def by_us(root: Path, act: Callable[[Repository], object]) -> CodePlaneError | None:
    try:
        act(open_repository(root, trusted=False))
    except CodePlaneError as error:
        return error
    return None


def assert_nothing_lost(root: Path, before: plain.State) -> None:
    """Every content that was in a file is still there, or git has it."""
    now = plain.files_of(root)
    for path, (kind, data) in before.files.items():
        if now.get(path) != (kind, data):
            blob = str(pygit2.hash(data))
            assert plain.run(root, "cat-file", "-t", blob) == b"blob\n", path


def in_the_way(root: Path, error: CodePlaneError, target: str) -> bool:
    """Whether all that is at risk are files that git writes a directory over, or removes with one."""
    with open_repository(root, trusted=False).opened() as handle:
        old, new = (str(handle.revparse_single(name).peel(pygit2.Tree).id) for name in ("HEAD", target))
        differ = diff_trees(handle, old, new)
    named = error.details["paths"]
    assert isinstance(named, dict)
    return all(path not in differ for paths in named.values() for path in paths)


def removes_below_files(root: Path, before: plain.State) -> bool:
    """Whether files are below a name that is a file in HEAD and gone in the target: git removes these."""
    with open_repository(root, trusted=False).opened() as handle:
        old, new = (str(handle.revparse_single(name).peel(pygit2.Tree).id) for name in ("HEAD", "side"))
        gone = {path for path, pair in diff_trees(handle, old, new).items() if pair.new is None}
    return any(not gone.isdisjoint(parent_paths(path)) for path in before.files)


def checked_out_alike(world: World) -> None:
    with made(world, copies=2) as (ours, theirs):
        before = state_of(ours)
        refused = by_us(ours, lambda one: check_out(one, PROGRAMS, find_target(one, "side")))
        is_done = by_git(theirs, "checkout", "-q", "side")
        after = state_of(ours)
        event(f"ours {'refuses' if refused else 'goes'}, git {'goes' if is_done else 'refuses'}")
        if refused is not None:
            assert isinstance(refused, WorkAtRisk) and after == before
            assert not is_done or in_the_way(ours, refused, "side")
        elif is_done:
            assert after == state_of(theirs)
        assert_nothing_lost(ours, before)


def reset_alike(world: World, mode: ResetMode) -> None:
    with made(world, copies=2) as (ours, theirs):
        before = state_of(ours)
        keeps_more = mode is ResetMode.KEEP and removes_below_files(ours, before)
        refused = by_us(
            ours, lambda one: reset_head(one, PROGRAMS, "side", mode, force=mode is ResetMode.HARD)
        )
        is_done = by_git(theirs, "reset", "-q", f"--{mode}", "side")
        event(f"{mode}: ours {'refuses' if refused else 'goes'}, git {'goes' if is_done else 'refuses'}")
        if refused is not None:
            assert isinstance(refused, WorkAtRisk) and state_of(ours) == before
            assert not is_done or in_the_way(ours, refused, "side")
        elif is_done:
            assert keeps_more or state_of(ours) == state_of(theirs)
            assert plain.text(ours, "rev-parse", "ORIG_HEAD") == plain.text(theirs, "rev-parse", "ORIG_HEAD")
        assert_nothing_lost(ours, before)


def stashed_alike(world: World, *, untracked: bool, index: bool, moves: bool) -> None:
    with made(world, copies=2) as (ours, theirs):
        before = state_of(ours)
        refused = by_us(ours, lambda one: push_stash(one, PROGRAMS, untracked=untracked))
        is_done = by_git(theirs, "stash", "push", "-q", *(["-u"] if untracked else []))
        if isinstance(refused, NothingToCommit):
            assert plain.run(theirs, "stash", "list") == b""
            return
        if isinstance(refused, WorkAtRisk):
            event("push: refused for what git loses")
            assert not untracked and state_of(ours) == before and is_in_the_way(world, refused)
            return
        assert refused is None
        assert_nothing_lost(ours, before)
        if not is_done:
            event("push: git cannot do it")
            assert state_of(theirs) == before and is_turned(world)
            return
        if untracked and is_covered(world):
            return
        assert state_of(ours) == state_of(theirs)
        for name in ("", "^2"):
            assert files_in(ours, name) == files_in(theirs, name)
        if untracked and is_twice(world):
            return
        assert files_in(ours, "^3") == files_in(theirs, "^3")
        popped_alike(ours, theirs, index=index, moves=moves)


def is_in_the_way(world: World, error: CodePlaneError) -> bool:
    """Whether all that is at risk are untracked files where tracked ones belong, in directories or above."""
    named = error.details["paths"]
    assert isinstance(named, dict) and named.keys() == {"untracked"}
    tracked = world.commits[-1].files.keys() | world.staged.keys()
    return all(
        path not in world.staged and any(is_beside(path, one) for one in tracked)
        for path in named["untracked"]
    )


def is_turned(world: World) -> bool:
    """Whether a file is staged or there where HEAD has a directory, or the reverse."""
    return any(
        is_beside(path, one) for path in {*world.staged, *world.working} for one in world.commits[-1].files
    )


def is_beside(one: str, other: str) -> bool:
    return one.startswith(f"{other}/") or other.startswith(f"{one}/")


def is_covered(world: World) -> bool:
    """Whether a directory stands in the place of a file that is staged, or a file in that of a directory that
    is new there: git leaves what is in it lying, or stashes both and brings back one."""
    new = world.staged.keys() - world.commits[-1].files.keys()
    return any(path.startswith(f"{one}/") for one in world.staged for path in world.working) or any(
        one.startswith(f"{path}/") for one in new for path in world.working
    )


def is_twice(world: World) -> bool:
    """Whether a file is there that HEAD has and the index has not: git stashes it as untracked, too."""
    return bool((world.commits[-1].files.keys() & world.working.keys()) - world.staged.keys())


def popped_alike(ours: Path, theirs: Path, *, index: bool, moves: bool) -> None:
    for root in (ours, theirs) if moves else ():
        by_git(root, "checkout", "-q", "-f", "side")
    before, has_loose = state_of(ours), files_in(theirs, "^3") != b""
    trees = plain.text(ours, "rev-parse", "refs/stash^^{tree}", "HEAD^{tree}", "refs/stash^{tree}").split()
    refused = by_us(ours, lambda one: pop_stash(one, PROGRAMS, find_stash(one, None), index=index))
    is_done = by_git(theirs, "stash", "pop", "-q", *(["--index"] if index else []))
    kept = [plain.run(root, "stash", "list") != b"" for root in (ours, theirs)]
    event(f"pop: ours {type(refused).__name__}, git {'goes' if is_done else 'stops'}")
    left, right = state_of(ours), state_of(theirs)
    if refused is not None:
        assert left == before and kept[0]
        assert not is_done or (index and "staged conflicts" in refused.message)
    elif index and not is_done and right == before:
        event("git cannot apply what was staged")
    elif left == right:
        stops = has_loose and kept == [False, True]  # at an untracked file that is there already
        assert stops or kept[0] == kept[1]
    elif index and left.files == right.files:
        event("git has staged a patch, we a merge")
    else:
        event("an accident of git's")
        assert is_accident(pygit2.Repository(str(ours)), *trees)


def files_in(root: Path, name: str) -> bytes:
    """A stash of git's may have untracked files that are none."""
    has_it = by_git(root, "rev-parse", "-q", "--verify", f"refs/stash{name}")
    return plain.run(root, "ls-tree", "-r", f"refs/stash{name}") if has_it else b""


@given(worlds())
@FEW
def test_a_branch_is_checked_out_as_git_does_it(world: World) -> None:
    checked_out_alike(world)


@given(worlds(), st.sampled_from(ResetMode))
@FEW
def test_a_branch_is_reset_as_git_does_it(world: World, mode: ResetMode) -> None:
    reset_alike(world, mode)


@given(worlds(), st.booleans(), st.booleans(), st.booleans())
@FEW
def test_work_is_put_aside_and_taken_up_as_git_does_it(
    world: World, untracked: bool, index: bool, moves: bool
) -> None:
    stashed_alike(world, untracked=untracked, index=index, moves=moves)


@pytest.mark.soak
@given(worlds())
@MANY
def test_many_branches_are_checked_out_as_git_does_it(world: World) -> None:
    checked_out_alike(world)


@pytest.mark.soak
@given(worlds(), st.sampled_from(ResetMode))
@MANY
def test_many_branches_are_reset_as_git_does_it(world: World, mode: ResetMode) -> None:
    reset_alike(world, mode)


@pytest.mark.soak
@given(worlds(), st.booleans(), st.booleans(), st.booleans())
@MANY
def test_much_work_is_put_aside_and_taken_up_as_git_does_it(
    world: World, untracked: bool, index: bool, moves: bool
) -> None:
    stashed_alike(world, untracked=untracked, index=index, moves=moves)
