"""A server that is killed while it edits: the next start has whole batches and every promised row."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from codeplane.config import Places
from codeplane.session import Checkout, RepoSession
from tests import zygote
from tests.drive import new_repo, user_env
from tests.e2e.writer import FILES
from tests.zygote import ROOT


def kill_one(repo: Path, home: Path, die: random.Random) -> list[str]:
    """Starts a writer, kills it some time after its first edit; the edits that it had acknowledged."""
    command = [sys.executable, "-m", "tests.e2e.writer", str(repo), str(home)]
    with zygote.Popen(command, cwd=ROOT, env=user_env(home), stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        first = writer.stdout.readline()
        time.sleep(die.random() * 0.3)
        writer.kill()
        return [line.strip() for line in (first, *writer.stdout) if line.endswith("\n")]


def campaign(tmp_path: Path, kills: range) -> int:
    """Edits that were acknowledged; each of them is on record after every kill."""
    repo = new_repo(tmp_path / "repo", dict.fromkeys(FILES, "0\n"))
    acknowledged: set[str] = set()
    for seed in kills:
        acknowledged |= set(kill_one(repo, tmp_path / "home", random.Random(seed)))
        session = RepoSession.open(Checkout.find(repo, Places.of_user(user_env(tmp_path / "home"))))
        rows = session.ledger.operations(limit=100_000)
        assert session.ledger.verify() == []
        assert acknowledged <= {row.operation_id for row in rows}
        assert len({(repo / name).read_text() for name in FILES}) == 1, f"half a batch, seed {seed}"
        assert session.ledger.tasks(state="OPEN") == []
        session.close()
        left = [str(path) for path in repo.rglob("*") if path.name.startswith(".codeplane-")]
        assert not left, f"seed {seed}"
    return len(acknowledged)


def test_a_killed_server_leaves_whole_batches_and_their_rows(tmp_path: Path) -> None:
    assert campaign(tmp_path, range(5)) >= 5


@pytest.mark.soak
@pytest.mark.parametrize("first", range(1000, 1300, 50))
def test_a_killed_server_leaves_whole_batches_all_day(
    tmp_path: Path, first: int, capsys: pytest.CaptureFixture[str]
) -> None:
    began, kills = time.monotonic(), range(first, first + 50)
    edits = campaign(tmp_path, kills)
    with capsys.disabled():
        spent = time.monotonic() - began
        print(f"\n{len(kills)} kills of a server: {edits} edits acknowledged, none lost, {spent:.0f} s")
