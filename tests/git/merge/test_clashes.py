"""Single merges in which paths clash or files are alike: as git merges them, or as the docs say why not."""

import pygit2
import pytest

from codeplane.git.history.tree_edit import side_at
from codeplane.git.merge.merge_base import merge_commits
from codeplane.git.merge.text_merge import MergeDrivers
from codeplane.git.merge.tree_merge import MergeResult
from tests.git.forks import long_text
from tests.git.histories import File, Files, Made, World, made
from tests.git.merge.test_tree_merge import compare

TEXT = File(long_text("one"))
MORE = File(TEXT.data + b"more\n")
OTHER = File(long_text("two"))
HALF = File(b"".join(TEXT.data.splitlines(keepends=True)[:8] + OTHER.data.splitlines(keepends=True)[:4]))
LINK = File(b"none", 0o120000)
BINARY = b"".join(b"\0line %d\n" % number for number in range(20))


def fork(base: Files, ours: Files, theirs: Files) -> World:
    states = (base, theirs, ours)
    commits = tuple(
        Made((0,) if number else (), files, "A <a@example.org>", "Do it\n", 1_600_000_000 + number, "+0000")
        for number, files in enumerate(states)
    )
    return World(commits, 1, ours, ours)


def turned(world: World) -> World:
    base, theirs, ours = (one.files for one in world.commits)
    return fork(base, theirs, ours)


CLASHES = {
    "a link where the file was that was renamed": fork(
        {"b.txt": TEXT, "dir/a.txt": TEXT}, {"a.txt": TEXT}, {"b.txt": TEXT, "dir/a.txt": LINK}
    ),
    "a link that was renamed, and a file where it was": fork({"b": LINK}, {"b": TEXT}, {"x": LINK}),
    "a rename into a directory, and a link in its place": fork({"x": TEXT}, {"x": LINK}, {"x/y": TEXT}),
    "a rename to the name of a directory": fork(
        {"b": TEXT, "x/y": OTHER}, {"x": TEXT}, {"b": LINK, "x/y": MORE}
    ),
    "a file from theirs at the name of our directory": fork(
        {"a": MORE, "b": TEXT, "x/y": LINK}, {"a": MORE, "b": TEXT, "x/y": MORE}, {"b": TEXT, "x": MORE}
    ),
    "a clean merge at the name of a directory": fork(
        {"a": TEXT, "x/y": OTHER}, {"a": MORE, "x/y": LINK}, {"x": File(b"top\n" + TEXT.data)}
    ),
    "of files that are alike, one in a directory that both have touched": fork(
        {"a.txt": TEXT, "dir/a.txt": TEXT, "x/y": TEXT},
        {"a.txt": TEXT, "dir/a.txt": TEXT, "x/y": OTHER},
        {"a.txt": TEXT, "x": TEXT},
    ),
    "of places that are alike, one in a directory of one side": fork(
        {"b.txt": TEXT, "x": TEXT}, {"b.txt": MORE, "x": OTHER}, {"dir/a.txt": TEXT, "x/y": TEXT}
    ),
    "a place that a file nobody else has changed would fill better": fork(
        {"a": HALF, "b": TEXT}, {"new": MORE}, {"a": File(HALF.data + b"last\n"), "b": TEXT}
    ),
    "a name beside that is taken": fork(
        {"x~main": TEXT}, {"x~main": TEXT, "x": MORE}, {"x~main": TEXT, "x/y": MORE}
    ),
    "a name beside that is a directory": fork(
        {"x~main/z": TEXT}, {"x~main/z": TEXT, "x": MORE}, {"x~main/z": TEXT, "x/y": MORE}
    ),
    "a name beside that is a directory of one side": fork(
        {"z": TEXT}, {"z": TEXT, "x": MORE}, {"z": TEXT, "x/y": MORE, "x~main/z": OTHER}
    ),
    "links in the place of a file that has the text of one of them": fork(
        {"a": File(LINK.data)}, {"a": LINK}, {"a": File(b"other", LINK.mode)}
    ),
    "two names for a binary file that both have changed": fork(
        {"a": File(BINARY)}, {"b": File(BINARY + b"ours")}, {"c": File(BINARY + b"theirs")}
    ),
}


@pytest.mark.parametrize("name", CLASHES)
def test_paths_that_clash_are_settled_as_git_does(name: str) -> None:
    compare(CLASHES[name])
    compare(turned(CLASHES[name]))


@pytest.mark.parametrize("named", ["old", "new", "other"])
def test_the_attributes_of_the_old_name_count_for_a_file_with_two_new_ones(named: str) -> None:
    rules = {".gitattributes": File(f"{named} merge=union\n".encode())}
    ours, theirs = (File(TEXT.data.replace(b"one 5", word)) for word in (b"ours", b"theirs"))
    compare(fork({**rules, "old": TEXT}, {**rules, "new": ours}, {**rules, "other": theirs}))
    compare(fork({**rules, "old": TEXT}, {**rules, "new": ours}, {**rules, "old": theirs, "new": OTHER}))


def test_an_edit_is_not_lost_where_both_sides_have_the_same_new_file() -> None:
    world = fork({"old": TEXT, "z": OTHER}, {"old": MORE, "new": TEXT, "z": OTHER}, {"new": TEXT, "z": OTHER})
    for one in (world, turned(world)):
        with made(one) as (root,):
            handle = pygit2.Repository(str(root))
            merged = merged_in(handle)
            assert [conflict.path for conflict in merged.conflicts] == ["new"]
            found = side_at(handle, merged.tree, "new")
            assert found is not None and b"more" in handle[found.oid].read_raw()


def merged_in(handle: pygit2.Repository) -> MergeResult:
    ours, theirs = (str(handle.revparse_single(name).id) for name in ("main", "side"))
    merged = merge_commits(MergeDrivers(handle), ours, theirs, ("main", "side"))
    assert merged is not None
    return merged
