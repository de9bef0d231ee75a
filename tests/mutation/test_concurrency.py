"""Many writers at once: those that share no file do not wait for each other, and no update is lost."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from codeplane.core.edits import EditSet, FileEdit
from codeplane.core.errors import DeadlineExceeded, EditConflict
from codeplane.core.ids import OperationId, new_operation_id
from codeplane.core.paths import RepoPath
from codeplane.mutation import Disk
from codeplane.working_tree import digest_of
from tests.mutation.world import World, fine

WRITERS = 50
ROUNDS = 3


def add_line(world: World, names: list[str], line: bytes) -> None:
    """Reads the files, adds a line to each, and tries anew when somebody was faster."""
    while True:
        edits = []
        for name in names:
            try:
                before = (world.root / name).read_bytes()
            except FileNotFoundError:
                edits.append(FileEdit(RepoPath(name), None, line))
            else:
                edits.append(FileEdit(RepoPath(name), digest_of(before), before + line))
        operation = new_operation_id()
        try:
            with world.engine.committed(world.prepare(EditSet(tuple(edits))), operation, {}, fine) as applied:
                with _history_lock:
                    _history.append({c.path: (c.before, c.after) for c in applied.changes})
        except EditConflict:
            continue
        return


_history: list[dict[RepoPath, tuple[str | None, str | None]]] = []
_history_lock = threading.Lock()


def test_fifty_writers_on_the_same_and_on_other_files_lose_nothing(tmp_path: Path) -> None:
    world = World.new(tmp_path / "repo", {"shared.txt": b"", "own/0.txt": b""})
    _history.clear()

    def write(writer: int) -> None:
        dice = random.Random(writer)
        for n in range(ROUNDS):
            line = f"{writer}.{n}\n".encode()
            names = ["shared.txt"] if n == 0 else [f"own/{writer}.txt"]
            if dice.random() < 0.3:
                names = [f"pair/{writer // 2}.txt", f"own/{writer}.txt"]
            add_line(world, names, line)

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(write, range(WRITERS)))
    lines = [line for data in world.files().values() for line in data.splitlines()]
    wanted = {f"{writer}.{n}".encode() for writer in range(WRITERS) for n in range(ROUNDS)}
    assert set(lines) == wanted
    # The history of each file is a chain: every write was made on what the one before it had left.
    for name, data in world.files().items():
        links = [one[RepoPath(name)] for one in _history if RepoPath(name) in one]
        assert len({before for before, _ in links}) == len(links), f"{name}: two writes on the same content"
        befores, afters = {before for before, _ in links}, {after for _, after in links}
        assert afters - befores == {digest_of(data)}
    world.engine.close()
    assert world.litter() == []


class Gate(Disk):
    """Holds every swap until it is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.reached = threading.Event()
        self.opened = threading.Event()

    def swap(self, source: int, name: str, target: int, new: str) -> None:
        if new == "a.py":
            self.reached.set()
            assert self.opened.wait(60)
        super().swap(source, name, target, new)


def test_a_batch_waits_for_its_own_files_only(tmp_path: Path) -> None:
    gate = Gate()
    world = World.new(tmp_path / "repo", {"a.py": b"1", "b.py": b"1"}, gate)
    second = world.edit("a.py", b"second")
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(world.apply, world.edit("a.py", b"first"))
        assert gate.reached.wait(60)
        assert world.apply(world.edit("b.py", b"free")).changes
        waiting = pool.submit(world.apply, second)
        with pytest.raises(TimeoutError):
            waiting.result(0.2)
        gate.opened.set()
        first.result(60)
        with pytest.raises(EditConflict):
            waiting.result(60)
    assert world.files() == {"a.py": b"first", "b.py": b"free"}


def test_a_waiting_call_can_be_withdrawn(tmp_path: Path) -> None:
    gate = Gate()
    world = World.new(tmp_path / "repo", {"a.py": b"1"}, gate)

    def late() -> None:
        raise DeadlineExceeded("The call took too long.")

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(world.apply, world.edit("a.py", b"first"))
        assert gate.reached.wait(60)
        prepared = world.prepare(EditSet((world.edit("a.py", b"second"),)))
        with pytest.raises(DeadlineExceeded):
            with world.engine.committed(prepared, OperationId("op"), {}, late):
                raise AssertionError("nothing may be made")
        gate.opened.set()
        first.result(60)
    assert world.files() == {"a.py": b"first"}


def test_directories_that_one_batch_makes_and_another_removes_do_not_collide(tmp_path: Path) -> None:
    world = World.new(tmp_path / "repo", {})

    def toggle(writer: int) -> None:
        for n in range(12):
            name = f"d/e/{writer}.py"
            world.apply(world.edit(name, b"x" * n))
            world.apply(world.edit(name, None))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(toggle, range(8)))
    assert world.files() == {}
    world.engine.close()
    assert world.litter() == []
