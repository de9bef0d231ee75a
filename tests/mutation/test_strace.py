"""Real system calls that fail or are the last one, by strace."""

import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mutation.crash import fill, judge, reference, template
from tests.mutation.models import story
from tests.mutation.world import World

ROOT = Path(__file__).parent.parent.parent
# Calls that Python itself makes seldom or never before the story begins.
CALLS = ("fsync", "fdatasync", "renameat2", "unlinkat", "mkdirat", "fchmod", "linkat", "ftruncate")
FAULTS = ("signal=SIGKILL", "error=EIO", "error=ENOSPC")
STORIES = (0, 15)  # with directories made and emptied, moves, and a file that becomes a directory


@pytest.fixture(scope="module")
def empty() -> Iterator[Path]:
    problem = _problem()
    if problem:
        assert os.environ.get("CI") != "true", problem
        pytest.skip(problem)
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="strace-", dir=memory) as scratch:
        yield template(Path(scratch) / "template")


def _problem() -> str:
    if shutil.which("strace") is None:
        return "strace is not installed"
    probe = subprocess.run(["strace", "-qq", "-o", os.devnull, "true"], capture_output=True)
    return "strace may not trace here" if probe.returncode else ""


def fault(empty: Path, seed: int, call: str, what: str, nth: int) -> tuple[bool, list[str]]:
    """Whether the call was reached, and what is wrong after the next start."""
    place, told = Path(tempfile.mkdtemp(dir=empty.parent)), story(seed)
    try:
        names = reference(place, empty, told)
        shutil.copytree(empty, place / "repo")
        fill(place / "repo", told)
        World(place / "repo").recover()
        log = place / "log"
        trace = ["strace", "-f", "-qq", "-o", str(log), "-e", f"trace={call}"]
        inject = ["-e", f"inject={call}:{what}:when={nth}"]
        life = ["-m", "tests.mutation.crash", "--live", str(place / "repo"), "--seed", str(seed)]
        done = subprocess.run(
            [*trace, *inject, sys.executable, *life],
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        assert done.returncode in (0, 137, -9), done.stderr
        reached = done.returncode != 0 or "INJECTED" in log.read_text()
        World(place / "repo").recover()
        # Where the index could not be written, the move is a plain one.
        is_killed = done.returncode != 0
        return reached, judge(place / "repo", told, names if is_killed else None)
    finally:
        shutil.rmtree(place)


@pytest.mark.parametrize("what", FAULTS)
@pytest.mark.parametrize("seed", STORIES)
def test_no_system_call_is_one_too_many(empty: Path, seed: int, what: str) -> None:
    dice = random.Random(f"{seed}{what}")
    hit = 0
    for call in CALLS:
        reached, wrong = fault(empty, seed, call, what, dice.randint(1, 9 if "sync" in call else 4))
        assert wrong == [], f"{call} {what}"
        hit += reached
    assert hit >= 5


@pytest.mark.soak
def test_many_faults(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dice, hit, wrong = random.Random(7), 0, list[str]()
    while hit < 1500:
        seed, nth = dice.randint(0, 10**6), dice.randint(1, 30)
        call, what = dice.choice(CALLS), dice.choice(FAULTS)
        reached, found = fault(empty, seed, call, what, nth)
        hit += reached
        wrong += [f"seed {seed}, {call} {what} {nth}: {one}" for one in found]
    with capsys.disabled():
        print(f"\n{hit} faults by strace: {len(wrong)} wrong")
    assert wrong == []
