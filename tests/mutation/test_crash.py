"""Kill points: wherever a process ends, the next start leaves every batch whole or not begun."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent


def campaign(*arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.mutation.crash", *arguments], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    ("arguments", "kills"),
    [(["--seed", "0"], 600), (["--seed", "100", "--bare"], 450)],
    ids=["swapping names", "without rename flags"],
)
def test_a_kill_leaves_every_batch_whole_or_not_begun(arguments: list[str], kills: int) -> None:
    found = campaign("--kills", str(kills), *arguments)
    assert found["faults"] == []
    assert found["kills"] >= kills


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(1000, 9000, 1000))
def test_many_kills(seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    began = time.monotonic()
    found = campaign("--kills", "2500", "--seed", str(seed), *(["--bare"] if seed >= 7000 else []))
    with capsys.disabled():
        told = f"{found['kills']} kills over {found['stories']} stories: {found['count']} faults"
        print(f"\n{told}, {time.monotonic() - began:.0f} s")
    assert found["faults"] == []


def test_the_campaign_finds_an_engine_without_a_journal() -> None:
    found = campaign("--kills", "60", "--bug", "no-journal")
    assert found["count"] > 0
