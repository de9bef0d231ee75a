"""Real system calls that fail or are the last one, by strace."""

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
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


def traced(empty: Path, seed: int, calls: str, *inject: str) -> tuple[int, str, list[str]]:
    """The exit code of a life under strace, its calls, and what is wrong after the next start."""
    place, told = Path(tempfile.mkdtemp(dir=empty.parent)), story(seed)
    try:
        shutil.copytree(empty, place / "repo")
        fill(place / "repo", told)
        World(place / "repo").recover()
        log = place / "log"
        trace = ["strace", "-f", "-qq", "-o", str(log), "-e", f"trace={calls}", *inject]
        life = ["-m", "tests.mutation.crash", "--live", str(place / "repo"), "--seed", str(seed)]
        done = subprocess.run([*trace, sys.executable, *life], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode in (0, 137, -9), done.stderr
        World(place / "repo").recover()
        # Where the index could not be written, the move is a plain one.
        is_killed = done.returncode != 0
        wrong = judge(place / "repo", told, names_in(empty, seed) if is_killed else None)
        return done.returncode, log.read_text(), wrong
    finally:
        shutil.rmtree(place)


@cache
def names_in(empty: Path, seed: int) -> list[list[str]]:
    place = Path(tempfile.mkdtemp(dir=empty.parent))
    return reference(place, empty, story(seed))


def fault(empty: Path, seed: int, call: str, what: str, nth: int) -> tuple[bool, list[str]]:
    """Whether the call was reached, and what is wrong after the next start."""
    code, log, wrong = traced(empty, seed, call, "-e", f"inject={call}:{what}:when={nth}")
    return code != 0 or "INJECTED" in log, wrong


@cache
def calls_of(empty: Path, seed: int) -> Counter[str]:
    """How often a whole life makes each call."""
    _, log, wrong = traced(empty, seed, ",".join(CALLS))
    assert wrong == []
    return Counter(re.findall(r"^\d+ +(\w+)\(", log, re.MULTILINE))


@pytest.mark.parametrize("what", FAULTS)
@pytest.mark.parametrize("seed", STORIES)
def test_no_system_call_is_one_too_many(empty: Path, seed: int, what: str) -> None:
    dice, made = random.Random(f"{seed}{what}"), calls_of(empty, seed)
    for call in dice.sample(sorted(made), 6):
        reached, wrong = fault(empty, seed, call, what, dice.randint(1, made[call]))
        assert reached and wrong == [], f"{call} {what}"


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
