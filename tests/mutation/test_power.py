"""Power failures: what the engine has acknowledged is on the disk, and a batch is whole or not begun."""

import random
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.mutation import Scope, journal
from tests.mutation.crash import GivesUp, fill, judge, staged, template
from tests.mutation.models import Story, story
from tests.mutation.power import Recorder, put_back, survivors
from tests.mutation.world import World, fine

_ANYWHERE = Scope(ignored_ok=True)


@pytest.fixture(autouse=True)
def another_boot(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a power failure the machine has started anew."""
    monkeypatch.setattr(journal, "_BOOT", Path("/nowhere"))


@pytest.fixture(scope="module")
def empty() -> Iterator[Path]:
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="power-", dir=memory) as scratch:
        yield template(Path(scratch) / "template")


def recorded(root: Path, told: Story, deaf: str) -> tuple[Recorder, list[list[str]]]:
    """A life with every event of the disk written down, and the names in git's index after each operation."""
    fill(root, told)
    first = World(root)
    first.recover()
    first.apply(first.edit("first", b"1"))
    (root / "first").unlink()
    first.engine.close()
    first.rows_file.write_bytes(b"")
    for n in range(256):
        (first.state.path / "objects" / f"{n:02x}").mkdir(parents=True, exist_ok=True, mode=0o700)
    recorder = Recorder(root, deaf)
    world = World(root, recorder)
    world.recover()
    names = [staged(root)]
    for operation in told.operations:
        try:
            prepared = world.engine.prepare(operation.edits, _ANYWHERE)
            with world.engine.committed(prepared, operation.id, {}, fine):
                if operation.gives_up:
                    raise GivesUp
                world.write_row(operation.id)
            recorder.acknowledge(operation.id)
            names.append(staged(root))
        except GivesUp:
            recorder.acknowledge(f"-{operation.id}")
    world.engine.close()
    return recorder, names


def failures(empty: Path, seeds: range, times: int, deaf: str = "") -> list[str]:
    """What is wrong after power failures at random moments of some lives."""
    found: list[str] = []
    for seed in seeds:
        told, dice = story(seed), random.Random(seed)
        place = Path(tempfile.mkdtemp(dir=empty.parent))
        shutil.copytree(empty, place / "repo")
        recorder, names = recorded(place / "repo", told, deaf)
        for _ in range(times):
            end = dice.randint(1, len(recorder.events))
            put_back(survivors(recorder, end, dice), place / "repo", recorder.root)
            answers = [event.value for event in recorder.events[:end] if event.act == "ack"]
            (place / "acknowledged").write_text("\n".join(answers))
            World(place / "repo").recover()
            found += [f"seed {seed}, {end} events: {one}" for one in judge(place / "repo", told, names)]
        shutil.rmtree(place)
    return found


def test_a_power_failure_loses_nothing_that_was_acknowledged(empty: Path) -> None:
    assert failures(empty, range(14), 10) == []


def test_no_file_comes_back_in_gits_directory(empty: Path) -> None:
    """A life that renames in git's index: what it has removed there stays removed."""
    assert failures(empty, range(1153, 1154), 25) == []


@pytest.mark.soak
@pytest.mark.parametrize("first", [1000, 1050, 1100, 1150])
def test_many_power_failures(empty: Path, first: int, capsys: pytest.CaptureFixture[str]) -> None:
    began, lives, times = time.monotonic(), range(first, first + 50), 40
    wrong = failures(empty, lives, times)
    with capsys.disabled():
        spent = time.monotonic() - began
        print(
            f"\n{len(lives) * times} power failures in {len(lives)} lives: {len(wrong)} wrong, {spent:.0f} s"
        )
    assert wrong == []


@pytest.mark.parametrize(
    ("deaf", "first"), [("all", 0), ("journal", 0), ("files", 0), ("directories", 0), ("index", 9)]
)
def test_every_wait_is_needed(empty: Path, deaf: str, first: int) -> None:
    assert any(failures(empty, range(seed, seed + 1), 20, deaf) for seed in range(first, first + 12))
