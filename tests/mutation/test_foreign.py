"""Another program that replaces the same files all the time: nothing that it writes is lost, or put back."""

import itertools
import os
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from codeplane.core.edits import EditSet, FileEdit
from codeplane.core.errors import EditConflict, EditFailed
from codeplane.core.ids import new_operation_id
from codeplane.core.paths import RepoPath
from codeplane.mutation import Disk
from codeplane.working_tree import digest_of
from tests.mutation.world import World, fine

NAMES = ("a.py", "b.py")


class Other(threading.Thread):
    """Swaps its own contents into the files and keeps what comes out."""

    def __init__(self, root: Path, until: threading.Event) -> None:
        super().__init__()
        self._root = root
        self._until = until
        self.put: list[bytes] = []
        self.got: list[bytes] = []

    def run(self) -> None:
        disk, place = Disk(), os.open(self._root, os.O_RDONLY)
        for n in itertools.count():
            if self._until.is_set():
                break
            data = f"theirs {n}\n".encode()
            (self._root / ".theirs").write_bytes(data)
            disk.swap(place, ".theirs", place, NAMES[n % len(NAMES)])
            self.put.append(data)
            self.got.append((self._root / ".theirs").read_bytes())
            if n % 7 == 0:
                self._until.wait(0.002)
        os.close(place)


def test_nothing_that_another_program_writes_is_lost(tmp_path: Path) -> None:
    world = World.new(tmp_path / "repo", dict.fromkeys(NAMES, b"start\n"))
    until = threading.Event()
    other = Other(world.root, until)
    made: list[bytes] = []
    consumed: list[bytes] = []
    conflicts = 0
    other.start()
    try:
        for n in range(150):
            before = {name: (world.root / name).read_bytes() for name in NAMES}
            after = {name: f"ours {n} {name}\n".encode() for name in NAMES}
            edits = [FileEdit(RepoPath(name), digest_of(before[name]), after[name]) for name in NAMES]
            try:
                prepared = world.prepare(EditSet(tuple(edits)))
                with world.engine.committed(prepared, new_operation_id(), {}, fine):
                    pass
            except (EditConflict, EditFailed):
                conflicts += 1
            else:
                made += after.values()
                consumed += before.values()
    finally:
        until.set()
        other.join()
    final = [(world.root / name).read_bytes() for name in NAMES]
    # What was put there is there still, or was taken out by one who knows it, or is in the store.
    kept = {*final, *consumed, *other.got}
    assert [data for data in other.put + made if data not in kept and not _is_stored(world, data)] == []
    # Nothing of a batch that failed stays, except in the hands of the other program.
    assert [data for data in final if data.startswith(b"ours") and data not in made] == []
    assert conflicts > 0
    with suppress(FileNotFoundError):
        (world.root / ".theirs").unlink()
    world.engine.close()
    assert world.litter() == []


def _is_stored(world: World, data: bytes) -> bool:
    return world.engine.objects.read(digest_of(data)) == data


class Meddling(Disk):
    """Before each swap somebody else replaces the file."""

    def __init__(self, root: Path, times: int) -> None:
        super().__init__()
        self._root = root
        self._times = times
        self.swaps = 0

    def swap(self, source: int, name: str, target: int, new: str) -> None:
        self.swaps += 1
        if self.swaps <= self._times:
            (self._root / ".theirs").write_bytes(f"theirs {self.swaps}\n".encode())
            (self._root / ".theirs").rename(self._root / "a.py")
        super().swap(source, name, target, new)


@pytest.mark.parametrize("times", [1, 2, 3, 4, 7])
def test_the_newest_stays_however_often_somebody_is_faster(tmp_path: Path, times: int) -> None:
    world = World.new(tmp_path / "repo", {"a.py": b"start\n"}, Meddling(tmp_path / "repo", times))
    with pytest.raises(EditConflict):
        world.apply(world.edit("a.py", b"ours\n"))
    assert world.files() == {"a.py": f"theirs {times}\n".encode()}
    world.engine.close()
    assert world.litter() == []
