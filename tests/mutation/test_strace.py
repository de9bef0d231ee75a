"""Real system calls that fail or are the last one, by strace."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.mutation.crash import fill, judge, reference, template
from tests.mutation.models import story
from tests.mutation.world import World

ROOT = Path(__file__).parent.parent.parent
# Calls that change files, or wait for them.
CALLS = (
    "fsync",
    "fdatasync",
    "write",
    "renameat2",
    "renameat",
    "unlinkat",
    "mkdirat",
    "fchmod",
    "linkat",
    "ftruncate",
    "utimensat",
)
FAULTS = ("signal=SIGKILL", "error=EIO", "error=ENOSPC")
STORIES = (0, 15)  # with directories made and emptied, moves, and a file that becomes a directory
PARTS, FAULTS_EACH = 10, 150


@dataclass(frozen=True)
class Life:
    """A story lived under strace."""

    code: int
    calls: Counter[str]
    is_hit: bool  # by the fault
    wrong: tuple[str, ...]  # after the next start


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


def traced(empty: Path, seeds: Iterable[int], calls: str, *inject: str) -> dict[int, Life]:
    """Lives, each in a process of its own: strace counts the calls of each by itself."""
    place, seeds = Path(tempfile.mkdtemp(dir=empty.parent)), list(seeds)
    try:
        for seed in seeds:
            shutil.copytree(empty, place / str(seed) / "repo")
            fill(place / str(seed) / "repo", story(seed))
            World(place / str(seed) / "repo").recover()
        log = place / "log"
        # With the filter, only these calls stop the process; but then strace sends no signals.
        quick = [] if any("signal" in one for one in inject) else ["--seccomp-bpf"]
        trace = ["strace", "-f", *quick, "-qq", "-o", str(log), "-e", f"trace={calls}", *inject]
        live = ["-m", "tests.mutation.crash", "--live", str(place), "--seeds", *map(str, seeds)]
        done = subprocess.run([*trace, sys.executable, *live], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        ends = {int(seed): end for seed, end in json.loads(done.stdout).items()}
        lines = log.read_text().splitlines()
        return {
            seed: _life(empty, place, seed, code, [line for line in lines if line.startswith(f"{pid} ")])
            for seed, (pid, code) in ends.items()
        }
    finally:
        shutil.rmtree(place)


def _life(empty: Path, place: Path, seed: int, code: int, lines: list[str]) -> Life:
    World(place / str(seed) / "repo").recover()
    # Where the index could not be written, the move is a plain one.
    names = names_in(empty, seed) if code == -9 else None
    wrong = judge(place / str(seed) / "repo", story(seed), names)
    if code not in (0, -9):
        wrong.append(f"exit code {code}")
    made = Counter(found[1] for line in lines if (found := re.match(r"\d+ +(\w+)\(", line)))
    is_hit = code == -9 or any("INJECTED" in line for line in lines)
    return Life(code, made, is_hit, tuple(wrong))


@cache
def names_in(empty: Path, seed: int) -> list[list[str]]:
    place = Path(tempfile.mkdtemp(dir=empty.parent))
    return reference(place, empty, story(seed))


@cache
def calls_of(empty: Path, seeds: tuple[int, ...]) -> dict[int, Counter[str]]:
    """How often a whole life makes each call."""
    lives = traced(empty, seeds, ",".join(CALLS))
    assert all(life.wrong == () for life in lives.values())
    return {seed: life.calls for seed, life in lives.items()}


def faults(empty: Path, seeds: Iterable[int], call: str, what: str, nth: int) -> list[str]:
    """What is wrong in lives whose n-th call of a kind fails or is the last one."""
    lives = traced(empty, seeds, call, "-e", f"inject={call}:{what}:when={nth}")
    missed = [seed for seed, life in lives.items() if not life.is_hit]
    assert missed == [], f"{call} {nth} was not reached"
    return [f"seed {seed}, {call} {what} {nth}: {one}" for seed in lives for one in lives[seed].wrong]


@pytest.mark.parametrize("what", FAULTS)
@pytest.mark.parametrize("seed", STORIES)
def test_no_system_call_is_one_too_many(empty: Path, seed: int, what: str) -> None:
    dice, made = random.Random(f"{seed}{what}"), calls_of(empty, STORIES)[seed]
    for call in dice.sample(sorted(made), 6):
        assert faults(empty, [seed], call, what, dice.randint(1, made[call])) == []


@pytest.mark.soak
@pytest.mark.parametrize("part", range(PARTS))
def test_many_faults(empty: Path, part: int, capsys: pytest.CaptureFixture[str]) -> None:
    dice, began, hit, wrong = random.Random(part), time.monotonic(), 0, list[str]()
    made = calls_of(empty, tuple(range(1000 * part, 1000 * part + 40)))
    kinds = Counter[str]()
    while hit < FAULTS_EACH:
        call, what = dice.choice(CALLS), dice.choice(FAULTS)
        most = max(calls[call] for calls in made.values())
        if not most:
            continue
        nth = dice.randint(1, most)
        reaching = [seed for seed, calls in made.items() if calls[call] >= nth]
        seeds = dice.sample(reaching, min(len(reaching), 10))
        wrong += faults(empty, seeds, call, what, nth)
        hit += len(seeds)
        kinds[f"{call} {what}"] += len(seeds)
    spent = time.monotonic() - began
    with capsys.disabled():
        print(f"\n{hit} faults of {len(kinds)} kinds by strace: {len(wrong)} wrong, {spent:.0f} s")
    assert wrong == []
