"""A server that is killed while it records: what it acknowledged is there, and the chain holds."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from codeplane.ledger import History
from codeplane.ledger.verify import verify
from tests import zygote
from tests.zygote import ROOT


def killed_after(directory: Path, run: int, seconds: float, *flags: str) -> list[str]:
    """The lines that the recorder said before it was killed, so long after its first."""
    recorder = zygote.Popen(
        [sys.executable, "-m", "tests.ledger.recorder", str(directory), str(run), *flags],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert recorder.stdout is not None
    said = [recorder.stdout.readline().strip()]
    time.sleep(seconds)
    recorder.kill()
    # A line that the kill cut off was not said.
    said += [line.strip() for line in recorder.stdout if line.endswith("\n")]
    recorder.wait()
    recorder.stdout.close()
    return said


def campaign(directory: Path, kills: int, *flags: str, seed: int = 5) -> int:
    """Rows that were acknowledged; each of them is there after every kill."""
    chance = random.Random(seed)
    acknowledged: set[str] = set()
    for run in range(kills):
        started, *said = killed_after(directory, run, chance.uniform(0, 0.1), *flags)
        assert started in ("started 0 []", "started 1 []")
        acknowledged |= set(said)
        assert verify(directory) == []
        history = History(directory)
        assert acknowledged <= {o.operation_id for o in history.operations(limit=10**6)}
        assert sum(task.state == "OPEN" for task in history.tasks(limit=10**6)) <= 1
        assert history.problems == []
    return len(acknowledged)


def test_ten_kills_lose_no_row(directory: Path) -> None:
    assert campaign(directory, 10) > 10
    assert len(list(directory.glob("*.db"))) > 1


def test_the_campaign_notices_a_row_that_is_acknowledged_too_early(directory: Path) -> None:
    with pytest.raises(AssertionError, match="<="):
        campaign(directory, 40, "--early")


@pytest.mark.soak
@pytest.mark.parametrize("seed", [11, 12, 13])
def test_three_hundred_kills_lose_no_row(
    directory: Path, seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    began, kills = time.monotonic(), 100
    rows = campaign(directory, kills, seed=seed)
    with capsys.disabled():
        spent = time.monotonic() - began
        print(f"\n{kills} kills of a ledger: {rows} rows acknowledged, none lost, {spent:.0f} s")
