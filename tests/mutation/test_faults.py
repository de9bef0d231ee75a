"""A disk that refuses: the edit is taken back and the caller is told why, or the next start settles it."""

import errno
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from codeplane.core.edits import EditSet, FileEdit
from codeplane.core.errors import CodePlaneError, EditError, EditFailed, EditInDoubt, StateError
from codeplane.core.ids import OperationId
from codeplane.core.paths import RepoPath
from codeplane.jail import Jail
from codeplane.mutation import Disk, directories
from codeplane.working_tree import digest_of
from tests.mutation.crash import CALLS
from tests.mutation.world import World, fine

FILES = {"a.py": b"one\n", "b.py": b"two\n", "pkg/c.py": b"three\n"}
AFTER = {"a.py": b"1" * 3000, "n/m/new.py": b"new\n", "moved.py": b"two\n"}


class Refusing(Disk):
    """Refuses the n-th call, or that and all that follow."""

    left = 0
    number = errno.EIO
    for_good = False

    def refuse(self, nth: int, number: int, *, for_good: bool) -> None:
        self.left, self.number, self.for_good = nth, number, for_good


def _refusing(name: str) -> Callable[..., Any]:
    def call(self: Refusing, *arguments: Any) -> Any:
        if self.left:
            self.left -= 1
            if not self.left:
                self.left = 1 if self.for_good else 0
                raise OSError(self.number, os.strerror(self.number))
        return getattr(Disk, name)(self, *arguments)

    return call


for _name in CALLS:
    setattr(Refusing, _name, _refusing(_name))


@pytest.fixture
def memory() -> Iterator[Path]:
    place = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="faults-", dir=place) as scratch:
        yield Path(scratch)


def batch(world: World) -> EditSet:
    return EditSet(
        (
            world.edit("a.py", AFTER["a.py"]),
            world.edit("n/m/new.py", AFTER["n/m/new.py"]),
            world.edit("pkg/c.py", None),
            world.edit("b.py", None),
            world.edit("moved.py", b"two\n", moved_from="b.py"),
        )
    )


@pytest.mark.parametrize("for_good", [False, True], ids=["once", "for good"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EACCES])
def test_whatever_call_is_refused_nothing_is_half_made(memory: Path, number: int, for_good: bool) -> None:
    nth, is_over, refused = 0, False, 0
    while not is_over:
        nth += 1
        disk = Refusing()
        world = World.new(memory / str(nth), FILES, disk)
        prepared = world.prepare(batch(world))
        disk.refuse(nth, number, for_good=for_good)
        is_made, error = False, None
        try:
            with world.engine.committed(prepared, OperationId("op"), {}, fine):
                is_over = disk.left > 0 and not (for_good and disk.left == 1)
                disk.left, kept = 0, disk.left
                world.write_row(OperationId("op"))
                disk.left = kept
            is_made = True
        except (EditError, StateError) as raised:
            error = raised
        disk.left = 0
        refused += error is not None
        told = f"call {nth}: {error!r}"
        if is_made:
            assert world.files().items() >= AFTER.items(), told
        elif not isinstance(error, EditInDoubt):
            files = {
                n: d for n, d in world.files().items() if not n.rpartition("/")[2].startswith(".codeplane-")
            }
            assert files == FILES, told
        again = World(world.root)
        found = again.recover()
        assert all(one.outcome != "doubtful" for one in found), told
        rows = again.rows()
        assert again.files() == (AFTER if rows else FILES), told
        # Where nobody may remove a directory, an empty one stays.
        if number != errno.EACCES:
            assert again.directories() == ({"n", "n/m"} if rows else {"pkg"}), told
        assert is_made <= bool(rows), told
        assert again.litter() == [], told
    assert refused > 10


def test_what_could_not_be_cleared_away_holds_no_directory_for_good(memory: Path) -> None:
    disk = Refusing()
    world = World.new(memory / "repo", FILES, disk)
    with world.engine.committed(
        world.prepare(EditSet((world.edit("pkg/c.py", b"new\n"),))), OperationId("op"), {}, fine
    ):
        world.write_row(OperationId("op"))
        disk.refuse(2, errno.ENOSPC, for_good=True)  # the old content does not get to the store
    disk.left = 0
    assert [path for path in world.files() if ".codeplane-" in path]
    world.apply(world.edit("pkg/c.py", None))
    assert world.directories() == {"pkg"}
    again = World(world.root)
    again.recover()
    assert again.directories() == set() and again.litter() == []


def _child(root: Path, code: str, *, as_nobody: bool = False) -> str:
    """What an edit in a process of its own comes to."""
    program = f"""
import os, resource, sys
from pathlib import Path
from tests.mutation.world import World
from codeplane.core.errors import CodePlaneError
{"os.setgid(65534); os.setuid(65534)" if as_nobody else ""}
world = World(Path({str(root)!r}))
world.recover()
try:
    {code}
    print("made")
except CodePlaneError as error:
    print(error.name(), error.details.get("cause"), *error.hints)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent.parent.parent,
        env={**os.environ, "HOME": str(root.parent)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_limit_for_the_size_of_files_is_told(tmp_path: Path) -> None:
    world = World.new(tmp_path / "repo", FILES)
    code = (
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000)); "
        "world.apply(world.edit('a.py', b'x'), world.edit('big', b'x' * 50000))"
    )
    told = _child(world.root, code)
    assert told.startswith("EDIT_FAILED file too large") and "ulimit" in told
    again = World(world.root)
    again.recover()
    assert again.files() == FILES and again.litter() == []
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 20000


@pytest.mark.skipif(os.getuid() != 0, reason="only the superuser mounts a small disk")
def test_a_full_disk_is_told_and_nothing_has_changed(tmp_path: Path) -> None:
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(place)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    try:
        world = World.new(place / "repo", FILES)
        free = os.statvfs(place).f_bavail * os.statvfs(place).f_frsize
        with pytest.raises(EditFailed, match="no space") as told:
            world.apply(world.edit("a.py", b"x"), world.edit("big", b"x" * (free + 4096)))
        assert "disk space" in told.value.hints[0]
        assert world.files() == FILES
        world.engine.close()
        assert world.litter() == []
        # Room for the edit, and none for the row: taking it back needs no space.
        (place / "rest").write_bytes(b"x" * (os.statvfs(place).f_bavail * os.statvfs(place).f_frsize - 8192))
        with pytest.raises(OSError, match="No space"):
            world.apply(world.edit("a.py", b"y"))
        assert world.files() == FILES
        (place / "rest").unlink()
        world.engine.close()
        assert world.litter() == []
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.skipif(os.getuid() != 0, reason="only the superuser becomes somebody else")
def test_a_directory_without_permission_is_told_and_nothing_has_changed(memory: Path) -> None:
    world = World.new(memory / "repo", FILES)
    memory.chmod(0o755)
    world.engine.close()
    subprocess.run(["chown", "-R", "65534:65534", str(world.root)], check=True)
    (world.root / "pkg").chmod(0o555)
    told = _child(
        world.root, "world.apply(world.edit('a.py', b'x'), world.edit('pkg/new.py', b'x'))", as_nobody=True
    )
    assert told.startswith("EDIT_FAILED permission denied") and "permissions" in told
    assert world.files() == FILES
    assert _child(world.root, "world.apply(world.edit('a.py', b'x'))", as_nobody=True) == "made"
    assert world.files() == {**FILES, "a.py": b"x"}
    (world.root / "a.py").chmod(0o755)
    os.chown(world.root / "a.py", 0, 0)
    assert _child(world.root, "world.apply(world.edit('a.py', b'z'))", as_nobody=True).startswith(
        "EDIT_REFUSED"
    )


def escapes(scratch: Path) -> list[str]:
    """The paths by which an edit reaches a file outside of the repository."""
    found = []
    for n, name in enumerate(["../outside/victim", "door/victim", "pkg/victim"]):
        outside = scratch / str(n) / "outside"
        outside.mkdir(parents=True)
        (outside / "victim").write_bytes(b"safe")
        world = World.new(scratch / str(n) / "repo", {"pkg/victim": b"safe"})
        (world.root / "door").symlink_to(outside)
        try:
            ready = world.prepare(EditSet((FileEdit(RepoPath(name), digest_of(b"safe"), b"taken"),)))
            (world.root / "pkg").rename(scratch / str(n) / "away")
            (world.root / "pkg").symlink_to(outside)
            with world.engine.committed(ready, OperationId("op"), {}, fine):
                pass
        except CodePlaneError:
            pass
        if (outside / "victim").read_bytes() != b"safe":
            found.append(name)
    return found


def test_no_path_leads_out(tmp_path: Path) -> None:
    assert escapes(tmp_path) == []


def test_a_jail_that_compares_the_beginning_of_paths_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def by_beginning(root: str, path: str, flags: int) -> int:
        assert f"{root}/{path}".startswith(root)
        return os.open(f"{root}/{path}", flags)

    monkeypatch.setattr(directories, "open_beneath", by_beginning)
    monkeypatch.setattr(Jail, "enter", lambda self, text: text)
    assert escapes(tmp_path) == ["../outside/victim", "door/victim", "pkg/victim"]
