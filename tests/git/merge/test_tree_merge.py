"""Two commits merged in memory: the tree, the stages and the marks are those of `git merge-tree`.

Which lines of two texts belong together is left to libgit2. Where that differs from git's own histogram, all
else has to be the same when the lines are merged by the git program.
"""

import os
from itertools import takewhile

import pygit2
import pytest
from hypothesis import assume, currently_in_test_context, event, given, settings

from codeplane.git.merge.merge_base import BETWEEN, merge_bases, merge_commits
from codeplane.git.merge.text_merge import MergeDrivers
from codeplane.git.merge.tree_merge import MergeResult
from codeplane.git.repo.outcome import Side
from tests.git import plain
from tests.git.accidents import is_accident
from tests.git.forks import forks, long_text
from tests.git.histories import File, Files, Made, World, made
from tests.git.line_merges import LinesOfMerge, LinesOfMergeFile

NUMBERS = (1, 2, 3)

Stages = dict[tuple[str, int], Side]
Trees = tuple[str, str, str]


@settings(max_examples=25, deadline=None)
@given(forks())
def test_a_fork_is_merged_as_git_does(world: World) -> None:
    compare(world)


@settings(max_examples=15, deadline=None)
@given(forks(crossed=True))
def test_two_common_ancestors_are_merged_first(world: World) -> None:
    compare(world)


@pytest.mark.soak
@settings(max_examples=1000, deadline=None)
@given(forks())
def test_a_thousand_forks_are_merged_as_git_does(world: World) -> None:
    compare(world)


@pytest.mark.soak
@settings(max_examples=1000, deadline=None)
@given(forks(crossed=True))
def test_many_crossed_histories_are_merged_as_git_does(world: World) -> None:
    compare(world)


def compare(world: World) -> None:
    with made(world) as (root,):
        handle = pygit2.Repository(str(root))
        ours, theirs = plain.text(root, "rev-parse", "main"), plain.text(root, "rev-parse", "side")
        merged = merged_by(MergeDrivers(handle))
        settings_ = ("-c", "merge.directoryRenames=false")
        said = plain.run(root, *settings_, "merge-tree", "--write-tree", "-z", "main", "side", fails=True)
        tree, *listed = takewhile(len, said.split(b"\0"))
        if currently_in_test_context():
            event("conflicts" if listed else "clean")
        git = tree.decode(), stages_told(listed)
        if (merged.tree, stages_of(merged)) == git:
            return
        assert currently_in_test_context(), (merged, git)
        assume(not any(is_accident(handle, *trees) for trees in merges_of(handle, ours, theirs)))
        assert_differs_by_lines_only(handle, merged, git)


def stages_told(listed: list[bytes]) -> Stages:
    found = {}
    for line in listed:
        about, path = line.split(b"\t", 1)
        mode, oid, stage = about.decode().split()
        found[os.fsdecode(path), int(stage)] = Side(oid, int(mode, 8))
    return found


def stages_of(merged: MergeResult) -> Stages:
    return {
        (one.path, number): side
        for one in merged.conflicts
        for number, side in zip(NUMBERS, (one.ancestor, one.ours, one.theirs), strict=True)
        if side is not None
    }


def merges_of(handle: pygit2.Repository, ours: str, theirs: str) -> list[Trees]:
    """Ancestor, ours and theirs of the merge, and before it, where it has two ancestors, those of theirs."""
    one, *others = merge_bases(handle, ours, theirs)
    here = tree_of(handle, ours), tree_of(handle, theirs)
    if not others:
        return [(tree_of(handle, one), *here)]
    (other,) = others
    made = merge_commits(MergeDrivers(handle), other, one, BETWEEN[:2], depth=1)
    assert made is not None
    return [*merges_of(handle, other, one), (made.tree, *here)]


def tree_of(handle: pygit2.Repository, oid: str) -> str:
    return str(handle[oid].peel(pygit2.Tree).id)


def assert_differs_by_lines_only(
    handle: pygit2.Repository, merged: MergeResult, git: tuple[str, Stages]
) -> None:
    """With the lines of each file merged as git does it, all is git's; with `git merge-file`, all is ours."""
    event("lines differ")
    by_git, by_file = (merged_by(drivers) for drivers in (LinesOfMerge(handle), LinesOfMergeFile(handle)))
    assert (by_git.tree, stages_of(by_git)) == git
    assert by_file == merged


def merged_by(drivers: MergeDrivers) -> MergeResult:
    ours, theirs = (str(drivers.handle.revparse_single(name).id) for name in ("main", "side"))
    merged = merge_commits(drivers, ours, theirs, ("main", "side"))
    assert merged is not None
    return merged


@pytest.mark.parametrize("also_there", [False, True])
def test_a_link_in_the_place_of_a_file_that_the_other_side_has_renamed(also_there: bool) -> None:
    text, link = File(long_text("one")), File(b"elsewhere", 0o120000)
    side = {"a": link, **({"b": File(long_text("two"))} if also_there else {})}
    states = ({"a": text}, side, {"b": File(long_text("one") + b"more\n")})
    commits = tuple(
        Made((0,) if number else (), files, "A <a@example.org>", "Do it\n", 1_600_000_000 + number, "+0000")
        for number, files in enumerate(states)
    )
    compare(World(commits, 1, states[-1], states[-1]))


def crossed(first: Files, ancestors: tuple[Files, Files], side: Files, main: Files) -> World:
    """Both sides have merged both ancestors, of which the first was on the way to `side`."""
    parents = ((), (0,), (0,), (1, 2), (2, 1))
    states = zip(parents, (first, *ancestors, side, main), strict=True)
    commits = tuple(
        Made(over, files, "A <a@example.org>", "Do it\n", 1_600_000_000 + number, "+0000")
        for number, (over, files) in enumerate(states)
    )
    return World(commits, 3, main, main)


TEXT = File(long_text("one"))
MORE = File(TEXT.data + b"more\n", 0o100755)
SHORT, BINARY = File(b"one\n"), File(b"\0\1binary\xff\n")
LINK, OTHER_LINK = File(b"here", 0o120000), File(b"there", 0o120000)

CROSSED = {
    "one has renamed the file and the other deleted it": crossed(
        {"a": TEXT, "k": TEXT},
        ({"k": TEXT}, {"b": MORE, "k": TEXT}),
        {"b": File(MORE.data), "k": TEXT},
        {"b": MORE, "k": TEXT},
    ),
    "both have added the file, and one is binary": crossed(
        {"k": TEXT}, ({"k": TEXT, "a": SHORT}, {"k": TEXT, "a": BINARY}), {"k": TEXT, "a": SHORT}, {"k": TEXT}
    ),
    "both have put links in the place of a file": crossed(
        {"k": TEXT, "a": TEXT},
        ({"k": TEXT, "a": LINK}, {"k": TEXT, "a": OTHER_LINK}),
        {"k": TEXT},
        {"k": TEXT, "a": TEXT},
    ),
}


@pytest.mark.parametrize("name", CROSSED)
def test_what_two_common_ancestors_cannot_agree_on_is_as_git_has_it(name: str) -> None:
    compare(CROSSED[name])


def test_an_accident_of_git_is_known_by_the_ancestor_that_is_made_of_two() -> None:
    both = {"a": TEXT, "b": BINARY}
    with made(crossed(both, ({"b": TEXT}, both), {"a": TEXT}, both)) as (root,):
        handle = pygit2.Repository(str(root))
        merges = merges_of(handle, *plain.text(root, "rev-parse", "main", "side").split())
        assert [is_accident(handle, *trees) for trees in merges] == [False, True]
        assert [one.path for one in merged_by(MergeDrivers(handle)).conflicts] == ["a"]
