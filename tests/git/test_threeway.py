"""Two commits merged in memory: the tree, the stages and the marks are those of `git merge-tree`.

Which lines of two texts belong together is left to libgit2. Where that differs from git's own histogram, the
comparison goes by `git merge-file`, which compares as libgit2 does.
"""

import os
from itertools import takewhile
from pathlib import Path

import pygit2
import pytest
from hypothesis import assume, currently_in_test_context, event, given, settings

from codeplane.git.bases import BETWEEN, merge_bases, merge_commits
from codeplane.git.contents import Drivers
from codeplane.git.outcome import Side
from codeplane.git.threeway import Merged
from codeplane.git.trees import side_at
from tests.git import plain
from tests.git.accidents import is_accident
from tests.git.forks import forks, long_text
from tests.git.histories import File, Files, Made, World, made

NUMBERS = (1, 2, 3)


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
        merged = merge_commits(Drivers(handle), ours, theirs, ("main", "side"))
        assert merged is not None
        settings_ = ("-c", "merge.directoryRenames=false")
        said = plain.run(root, *settings_, "merge-tree", "--write-tree", "-z", "main", "side", fails=True)
        tree, *listed = takewhile(len, said.split(b"\0"))
        if currently_in_test_context():
            event("conflicts" if listed else "clean")
        if tree.decode() == merged.tree and stages_told(listed) == stages_of(merged):
            return
        bases = merge_bases(handle, ours, theirs)
        trees = [str(handle[oid].peel(pygit2.Tree).id) for oid in (bases[0], ours, theirs)]
        assume(not is_accident(handle, *trees))
        assert_differs_by_lines_only(root, handle, merged, (tree.decode(), stages_told(listed)))


def stages_told(listed: list[bytes]) -> dict[tuple[str, int], Side]:
    found = {}
    for line in listed:
        about, path = line.split(b"\t", 1)
        mode, oid, stage = about.decode().split()
        found[os.fsdecode(path), int(stage)] = Side(oid, int(mode, 8))
    return found


def stages_of(merged: Merged) -> dict[tuple[str, int], Side]:
    return {
        (one.path, number): side
        for one in merged.conflicts
        for number, side in zip(NUMBERS, (one.ancestor, one.ours, one.theirs), strict=True)
        if side is not None
    }


def assert_differs_by_lines_only(
    root: Path, handle: pygit2.Repository, merged: Merged, git: tuple[str, dict[tuple[str, int], Side]]
) -> None:
    """Every file that is not git's is what `git merge-file` makes of the same three."""
    if currently_in_test_context():
        event("lines differ")
    tree, stages = git
    changed = plain.run(root, "diff-tree", "-r", "-z", "--name-only", "--no-renames", tree, merged.tree)
    ours, ancestor = stages_of(merged), merged_ancestor(root, handle)
    paths = {os.fsdecode(path) for path in changed.split(b"\0")[:-1]}
    paths |= {path for path, _ in ours.keys() ^ stages.keys()}
    for path in paths:
        sides = [ours.get((path, number)) or stages.get((path, number)) for number in NUMBERS]
        if ancestor is not None:  # its lines, too, are merged otherwise than git merges them
            sides[0] = side_at(handle, ancestor, path)
        made_here = side_at(handle, merged.tree, path)
        assert made_here is not None, path
        assert made_by_merge_file(root, handle, sides) == handle[made_here.oid].read_raw(), path


def merged_ancestor(root: Path, handle: pygit2.Repository) -> str | None:
    """The tree that stands for several common ancestors."""
    bases = merge_bases(handle, *(plain.text(root, "rev-parse", name) for name in ("main", "side")))
    if len(bases) < 2:
        return None
    later, earlier = bases
    made = merge_commits(Drivers(handle), earlier, later, BETWEEN[:2], depth=1)
    assert made is not None
    return made.tree


def made_by_merge_file(root: Path, handle: pygit2.Repository, sides: list[Side | None]) -> bytes:
    names = []
    for number, side in enumerate(sides):
        names.append(f"../{number}")
        (root.parent / str(number)).write_bytes(handle[side.oid].read_raw() if side is not None else b"")
    labels = ("-L", "main", "-L", "base", "-L", "side")
    return plain.run(root, "merge-file", "-p", *labels, names[1], names[0], names[2], fails=True)


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


def test_a_file_that_one_ancestor_renamed_and_another_deleted_stands_as_it_was() -> None:
    old, new = File(long_text("one")), File(long_text("one") + b"more\n", 0o100755)
    states: tuple[tuple[tuple[int, ...], Files], ...] = (
        ((), {"a": old, "k": old}),
        ((0,), {"k": old}),
        ((0,), {"b": new, "k": old}),
        ((1, 2), {"b": File(new.data), "k": old}),
        ((2, 1), {"b": new, "k": old}),
    )
    commits = tuple(
        Made(parents, files, "A <a@example.org>", "Do it\n", 1_600_000_000 + number, "+0000")
        for number, (parents, files) in enumerate(states)
    )
    compare(World(commits, 3, states[-1][1], states[-1][1]))
