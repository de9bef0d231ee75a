"""Moves of tracked files: git's index goes along, as after `git mv`."""

import os
import random
from pathlib import Path

import pytest

from codeplane.core.edits import EditSet
from codeplane.core.ids import OperationId
from codeplane.git.repo.index_file import rename_entries
from tests.drive import git
from tests.mutation.world import World, fine

FILES = {"a.py": b"one\n", "pkg/b.py": b"two\n" * 50, "pkg/c.py": b"three\n"}


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World.new(tmp_path / "repo", FILES)
    git(world.root, "add", "-A")
    git(world.root, "commit", "-qm", "files")
    return world


def staged(world: World) -> dict[str, str]:
    """The names in the index and their blobs, as git tells them."""
    lines = git(world.root, "ls-files", "--stage").splitlines()
    return {line.split("\t")[1]: line.split()[1] for line in lines}


def move(world: World, old: str, new: str, data: bytes | None = None) -> bool:
    bytes_now = (world.root / old).read_bytes()
    applied = world.apply(
        world.edit(old, None), world.edit(new, bytes_now if data is None else data, moved_from=old)
    )
    return applied.changes[1].git_mv


def test_a_clean_tracked_file_is_renamed_in_the_index(world: World) -> None:
    before = staged(world)
    assert move(world, "pkg/b.py", "lib/new/b.py")
    after = {name: blob for name, blob in before.items() if name != "pkg/b.py"}
    assert staged(world) == {**after, "lib/new/b.py": before["pkg/b.py"]}
    assert git(world.root, "status", "--porcelain") == "R  pkg/b.py -> lib/new/b.py"
    git(world.root, "fsck")


def test_a_move_with_other_bytes_keeps_the_old_blob_in_the_index(world: World) -> None:
    assert move(world, "pkg/b.py", "b.py", b"two\n" * 49 + b"changed\n")
    assert git(world.root, "status", "--porcelain") == "RM pkg/b.py -> b.py"


def test_taking_a_move_back_leaves_nothing_staged(world: World) -> None:
    assert move(world, "pkg/b.py", "b.py", b"two\n" * 49 + b"changed\n")
    assert move(world, "b.py", "pkg/b.py", FILES["pkg/b.py"])
    assert git(world.root, "status", "--porcelain") == ""


def test_a_changed_or_untracked_file_is_moved_without_git(world: World) -> None:
    before = staged(world)
    (world.root / "a.py").write_bytes(b"changed\n")
    (world.root / "new.py").write_bytes(b"new\n")
    assert not move(world, "a.py", "a2.py")
    assert not move(world, "new.py", "new2.py")
    assert staged(world) == before


def test_a_locked_index_is_left_alone(world: World) -> None:
    before = staged(world)
    lock = world.root / ".git" / "index.lock"
    lock.write_bytes(b"")
    assert not move(world, "a.py", "a2.py")
    assert lock.exists()
    lock.unlink()
    assert staged(world) == before


def test_a_split_index_is_left_alone(world: World) -> None:
    git(world.root, "update-index", "--split-index")
    before = staged(world)
    assert not move(world, "a.py", "a2.py")
    assert staged(world) == before


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_every_version_of_the_index_is_written_as_git_reads_it(world: World, version: str) -> None:
    (world.root / "later.py").write_bytes(b"later\n")
    git(world.root, "add", "-N", "later.py")
    git(world.root, "update-index", "--index-version", version)
    before = staged(world)
    assert move(world, "pkg/c.py", "a/deep/er/c.py")
    assert staged(world) == {
        **{k: v for k, v in before.items() if k != "pkg/c.py"},
        "a/deep/er/c.py": before["pkg/c.py"],
    }
    git(world.root, "fsck")


def test_an_exception_in_the_block_takes_the_rename_back(world: World) -> None:
    before = staged(world)
    edits = EditSet((world.edit("a.py", None), world.edit("z.py", b"one\n", moved_from="a.py")))
    with pytest.raises(ZeroDivisionError):
        with world.engine.committed(world.prepare(edits), OperationId("op"), {}, fine):
            assert "z.py" in staged(world)
            1 / 0  # noqa: B018
    assert git(world.root, "status", "--porcelain") == ""
    assert staged(world) == before
    assert not (world.root / ".git" / "index.lock").exists()


def test_a_change_that_the_index_could_not_tell_from_none_is_still_seen(world: World) -> None:
    """A file that is written in the same tick as the index, with the same size, must not look clean."""
    index = world.root / ".git" / "index"
    git(world.root, "update-index", "--refresh")
    stamp = (world.root / "pkg/c.py").stat()
    os.utime(index, ns=(stamp.st_mtime_ns, stamp.st_mtime_ns))
    (world.root / "pkg/c.py").write_bytes(b"THREE\n")
    os.utime(world.root / "pkg/c.py", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert move(world, "a.py", "z.py")
    git(world.root, "config", "core.trustctime", "false")
    git(world.root, "config", "core.checkStat", "minimal")
    assert "M pkg/c.py" in git(world.root, "status", "--porcelain")


def test_a_damaged_index_is_not_written(world: World) -> None:
    data = (world.root / ".git" / "index").read_bytes()
    moves = {b"a.py": b"z.py"}
    assert rename_entries(data, moves, 0) is not None
    dice = random.Random(1)
    for _ in range(300):
        at = dice.randrange(len(data))
        damaged = data[:at] + bytes([data[at] ^ (1 << dice.randrange(8))]) + data[at + 1 :]
        assert rename_entries(damaged, moves, 0) is None
        assert rename_entries(data[:at], moves, 0) is None


def test_names_that_would_collide_in_the_index_are_refused(world: World) -> None:
    data = (world.root / ".git" / "index").read_bytes()
    assert rename_entries(data, {b"a.py": b"pkg"}, 0) is None
    assert rename_entries(data, {b"a.py": b"pkg/c.py/x"}, 0) is None
    assert rename_entries(data, {b"a.py": b"pkg/c.py"}, 0) is None
    assert rename_entries(data, {b"gone.py": b"x"}, 0) is None
