"""Kill points: wherever an execution ends, the next start has files, ledger and plan agree."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.delta.crash import MODES

ROOT = Path(__file__).parent.parent.parent


def campaign(*arguments: str) -> dict[str, Any]:
    program = [sys.executable, "-m", "tests.delta.crash", *arguments]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize("mode", MODES)
def test_a_kill_leaves_every_phase_whole_or_not_begun(mode: str) -> None:
    result = campaign("--kills", "102", "--modes", mode)
    assert result["faults"] == []
    assert result["kills"] >= 102
    assert {"Disk.swap", "Disk.write", "Tasks.record_event", "Ledger.append", "state.db"} <= {
        *result["steps"]
    }


def test_a_full_disk_leaves_nothing_half_done_and_is_told_by_type() -> None:
    result = campaign("--full", "--kills", "100", "--modes", "staged", "committed", "refused")
    assert result["faults"] == []
    assert {"Disk.write", "Disk.create", "state.db", "lock.write_private", "Ledger.append"} <= {
        *result["steps"]
    }


@pytest.mark.soak
def test_a_disk_that_is_full_at_any_step() -> None:
    result = campaign("--full", "--kills", "650", "--modes", "staged", "committed", "refused")
    assert result["faults"] == []


@pytest.mark.soak
@pytest.mark.parametrize("mode", MODES)
def test_many_kills(mode: str, capsys: pytest.CaptureFixture[str]) -> None:
    began = time.monotonic()
    result = campaign("--kills", "1000", "--seed", "1", "--modes", mode)
    with capsys.disabled():
        text = f"{mode}: {result['kills']} kills at {result['points']} points: {result['count']} faults"
        print(f"\n{text}, {time.monotonic() - began:.0f} s")
    assert result["faults"] == []


@pytest.mark.parametrize("bug", ["no-settlement", "no-staging"])
def test_the_campaign_finds_a_start_that_settles_nothing(bug: str) -> None:
    result = campaign("--kills", "40", "--modes", "staged", "--bug", bug)
    assert result["count"] > 0
