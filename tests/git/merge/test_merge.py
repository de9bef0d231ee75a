"""Merge, cherry-pick and revert leave HEAD, index, files and git's own notes as the git program does."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import assume, currently_in_test_context, event, given, settings
from hypothesis import strategies as st

from codeplane.core.errors import GitFailure, NothingToCommit
from codeplane.git import Repository, open_repository
from codeplane.git.history.tree_edit import clashing_paths
from codeplane.git.merge.merge import MergeOptions, merge
from codeplane.git.merge.resume import Resolution, abort_merge, continue_merge
from codeplane.git.merge.sequencer import Picking, pick_commits
from codeplane.git.repo.outcome import Outcome
from codeplane.process import Programs
from tests.git import plain
from tests.git.accidents import may_be_accident
from tests.git.forks import forks
from tests.git.histories import World, changed, made

NOTES = (
    "MERGE_HEAD",
    "MERGE_MSG",
    "MERGE_MODE",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "ORIG_HEAD",
    "AUTO_MERGE",
)
NOTHING = (b"nothing", b"nothing added", b"no changes added")
_WHO = {"GIT_AUTHOR_NAME": "C O Mitter", "GIT_AUTHOR_EMAIL": "committer@example.org"}

Act = Callable[[Repository, Programs], Outcome]


@contextmanager
def both(world: World) -> Iterator[tuple[Repository, Programs, Path]]:
    """One repository for us and one for the git program, equal to begin with."""
    with made(world, copies=2) as (ours, theirs):
        for root in (ours, theirs):
            with (root / ".git" / "config").open("a") as config:
                config.write("[user]\n\tname = C O Mitter\n\temail = committer@example.org\n")
                config.write("[merge]\n\tdirectoryRenames = false\n[advice]\n\tskippedCherryPicks = false\n")
        yield open_repository(ours, trusted=True), Programs(plain.environment(ours.parent)), theirs


def git(root: Path, *arguments: str) -> bytes:
    return plain.run(root, *arguments, fails=True, stdin=b"", **_WHO)


def differs_by_lines(left: plain.State, right: plain.State) -> bool:
    """Whether the same files are there, and texts alone differ, in which lines repeat: see the docs."""
    differ = [path for path in left.files if left.files[path] != right.files.get(path)]
    return left.files.keys() == right.files.keys() and all(
        left.files[path][0] == right.files[path][0] and _repeats(left.files[path][1]) for path in differ
    )


def _repeats(data: bytes) -> bool:
    lines = data.splitlines()
    return b"\0" not in data and len(set(lines)) < len(lines)


def assert_same(ours: Path, theirs: Path, *, notes: bool = True) -> None:
    left, right = plain.state_of(ours), plain.state_of(theirs)
    if (left.files, left.index) != (right.files, right.index) and currently_in_test_context():
        assume(left.files == right.files or not differs_by_lines(left, right))
        assume(not may_be_accident(theirs))
    assert left.index == right.index
    assert left.status == right.status, (left.status, right.status)
    assert left.files == right.files
    assert history(ours) == history(theirs)
    if notes:
        assert notes_of(ours) == notes_of(theirs), (notes_of(ours), notes_of(theirs))


def history(root: Path) -> list[str]:
    """Trees, people and messages; ids and dates of what was made now are different ones. The remarks are left
    out that git has in the message of a commit to which it is adding others."""
    said = plain.text(root, "log", "-8", "--topo-order", "--format=%T %an <%ae> %cn%n%B%x00")
    first, *others = said.split("\0")
    if (root / ".git" / "rebase-merge" / "current-fixups").exists():
        about, message = first.split("\n", 1)
        first = f"{about}\n" + plain.run(root, "stripspace", "-s", stdin=message.encode()).decode()
    return [first, *others]


def notes_of(root: Path) -> dict[str, bytes]:
    names = NOTES if git(root, "ls-files", "-u") else NOTES[:-1]  # git leaves the last one lying about
    found = {name: root / ".git" / name for name in names}
    return {name: file.read_bytes() for name, file in found.items() if file.exists()}


def is_refused(act: Act, repository: Repository, programs: Programs) -> bool:
    """Whether it is refused; then nothing has changed."""
    before = plain.state_of(repository.root)
    try:
        act(repository, programs)
    except GitFailure:
        assert plain.state_of(repository.root) == before
        assert not repository.git_dir.joinpath("codeplane-landing").exists()
        return True
    return False


def is_refusal(said: bytes) -> bool:
    """What is in the way is judged as in a checkout, and there git's judgement differs a little."""
    words = (b"Aborting", b"would be overwritten", b"lose untracked", b"fatal: stash failed")
    return any(word in said for word in words)


def is_lost(ours: Path, theirs: Path) -> bool:
    """Whether untracked files are gone with a merge that git has refused, all of them in the place of tracked
    ones, which may be back: git puts everything else back as it was."""
    left, right = plain.files_of(ours), plain.files_of(theirs)
    gone, come = left.keys() - right.keys(), right.keys() - left.keys()
    is_rest_same = all(left[path] == right[path] for path in left.keys() & right.keys())
    tracked = plain.text(ours, "ls-files").splitlines()
    return (
        bool(gone)
        and is_rest_same
        and gone == clashing_paths(gone, tracked)
        and come == clashing_paths(come, gone)
    )


@st.composite
def dirty(draw: st.DrawFn) -> World:
    """With local changes, some of them in the way."""
    world = draw(forks())
    return World(world.commits, world.side, world.staged, draw(changed(world.staged, most=2)))


def compare_merge(world: World) -> None:
    with both(world) as (repository, programs, theirs):
        refused = is_refused(
            lambda one, other: merge(one, other, "side", MergeOptions()), repository, programs
        )
        said = git(theirs, "merge", "--no-edit", "side")
        if refused != is_refusal(said):
            event("refused by one")
            return
        event("refused" if refused else "conflicts" if git(theirs, "ls-files", "-u") else "clean")
        if not (refused and is_lost(repository.root, theirs)):
            assert_same(repository.root, theirs, notes=not refused)


def compare_picks(world: World, *, reverts: bool, count: int) -> None:
    with both(world) as (repository, programs, theirs):
        tip = "main" if reverts else "side"
        refs = [f"{tip}~{number}" for number in range(count)]
        refs = [ref for ref in refs if plain.run(theirs, "rev-parse", "-q", "--verify", ref, fails=True)]
        refs = refs if reverts else refs[::-1]
        how = Picking(reverts=reverts)
        try:
            refused = is_refused(lambda one, other: pick_commits(one, other, refs, how), repository, programs)
        except NothingToCommit:
            refused = True
        word = ("revert", "--no-edit") if reverts else ("cherry-pick",)
        said = git(theirs, *word, *refs)
        if b"empty" in said or any(b"%b to commit" % word in said for word in NOTHING):
            event("empty")
            return
        if refused != is_refusal(said):
            event("refused by one")
            return
        event("refused" if refused else "conflicts" if git(theirs, "ls-files", "-u") else "clean")
        if not (refused and len(refs) > 1):  # git has done those that come before
            assert_same(repository.root, theirs, notes=not refused)


def compare_ends(world: World, *, aborts: bool, by_git: bool) -> None:
    """What has stopped is ended by us, or by git in what we have left; git's own is the measure."""
    with both(world) as (repository, programs, theirs):
        before = plain.state_of(repository.root)
        done = merge(repository, programs, "side", MergeOptions())
        if not done.conflicts:
            return
        git(theirs, "merge", "--no-edit", "side")
        event("aborts" if aborts else "continues")
        ends = (
            [("merge", "--abort")] if aborts else [("add", "-A"), ("commit", "--no-edit", "--cleanup=strip")]
        )
        for root in (theirs, repository.root) if by_git else (theirs,):
            for arguments in ends:
                git(root, *arguments)
        if not by_git and aborts:
            assert abort_merge(repository, programs).saved is None
        elif not by_git:
            named = [one.path for one in done.conflicts]
            assert continue_merge(repository, programs, Resolution(lambda _: None, named)).commit
        assert_same(repository.root, theirs)
        assert not aborts or plain.state_of(repository.root) == before


@settings(max_examples=20, deadline=None)
@given(st.one_of(forks(), dirty()))
def test_a_merge_ends_or_stops_as_that_of_git(world: World) -> None:
    compare_merge(world)


@settings(max_examples=15, deadline=None)
@given(st.one_of(forks(), dirty()), st.booleans(), st.integers(1, 3))
def test_picks_and_reverts_are_those_of_git(world: World, reverts: bool, count: int) -> None:
    compare_picks(world, reverts=reverts, count=count)


@settings(max_examples=12, deadline=None)
@given(forks(), st.booleans(), st.booleans())
def test_what_has_stopped_is_ended_by_either(world: World, aborts: bool, by_git: bool) -> None:
    compare_ends(world, aborts=aborts, by_git=by_git)


@pytest.mark.soak
@settings(max_examples=1000, deadline=None)
@given(st.one_of(forks(), dirty()))
def test_many_merges_end_or_stop_as_those_of_git(world: World) -> None:
    compare_merge(world)


@pytest.mark.soak
@settings(max_examples=1000, deadline=None)
@given(st.one_of(forks(), dirty()), st.booleans(), st.integers(1, 3))
def test_many_picks_and_reverts_are_those_of_git(world: World, reverts: bool, count: int) -> None:
    compare_picks(world, reverts=reverts, count=count)


@pytest.mark.soak
@settings(max_examples=1000, deadline=None)
@given(forks(), st.booleans(), st.booleans())
def test_many_that_have_stopped_are_ended_by_either(world: World, aborts: bool, by_git: bool) -> None:
    compare_ends(world, aborts=aborts, by_git=by_git)
