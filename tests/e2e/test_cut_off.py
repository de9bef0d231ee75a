"""What a kill has cut off, an edit or an operation of git, and what the commands make of it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from codeplane.config import Places
from codeplane.core.ids import new_request_id
from codeplane.git.repo.outcome import Outcome
from codeplane.mutation.journal import has_cut_off
from codeplane.session import Call, Checkout, RepoSession
from codeplane.session.operation.git import change
from tests.drive import Cpl, git, user_env
from tests.mutation.crash import KILLED, Mortal
from tests.mutation.world import World

ROOT = Path(__file__).parent.parent.parent


def life(root: str, call: int) -> None:
    """Edits two files and ends in the middle of it."""
    world = World(Path(root), Mortal(call, "before"))
    world.recover()
    world.apply(*(world.edit(name, b"changed\n") for name in ("README.md", "new.md")))


def git_life(root: str, home: str) -> None:
    """Moves HEAD and ends before anybody has written that down."""
    session = RepoSession.open(Checkout.find(Path(root), Places.of_user(user_env(Path(home)))))
    call = Call(session, session.sessions.enter("a client"), new_request_id())

    def act() -> Outcome:
        git(Path(root), "commit", "-q", "--allow-empty", "-m", "more")
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    change(call, "git_commit", act)


def test_a_start_tells_of_git_and_of_an_edit_that_were_cut_off(cpl: Cpl, tmp_path: Path) -> None:
    before = git(cpl.repo, "rev-parse", "HEAD")
    arguments = f"{str(cpl.repo)!r}, {str(tmp_path / 'home')!r}"
    program = f"from tests.e2e.test_cut_off import git_life; git_life({arguments})"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT)
    assert done.returncode == -signal.SIGKILL and has_cut_off(cpl.repo / ".codeplane")
    notices = cpl.json("call", "describe")["result"]["notices"]
    assert any("git_commit" in one and "interrupted by a crash" in one and before in one for one in notices)
    assert "git_commit" in cpl.run("log").stdout
    assert "notices" not in cpl.json("call", "describe")["result"]
    assert git(cpl.repo, "log", "-1", "--format=%s") == "more"


def cut_off(root: Path, call: int) -> None:
    program = f"from tests.e2e.test_cut_off import life; life({str(root)!r}, {call})"
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT).returncode == KILLED
    assert has_cut_off(root / ".codeplane")


@pytest.mark.parametrize("call", [9, 12, 14, 16])
def test_clear_settles_an_edit_before_the_journal_goes(cpl: Cpl, call: int) -> None:
    cut_off(cpl.repo, call)
    assert cpl.json("clear", "--yes")["removed"] is True
    assert not (cpl.repo / ".codeplane").exists()
    files = {path.name: path.read_bytes() for path in cpl.repo.iterdir() if path.is_file()}
    assert files in ({"README.md": b"hello\n"}, {"README.md": b"changed\n", "new.md": b"changed\n"})


def test_a_start_settles_an_edit_and_puts_it_on_record(cpl: Cpl) -> None:
    cut_off(cpl.repo, 14)
    with cpl.up():
        files = {path.name for path in cpl.repo.iterdir() if path.is_file()}
    assert not [name for name in files if name.startswith(".codeplane-")]
    assert "op_" in cpl.run("log").stdout
