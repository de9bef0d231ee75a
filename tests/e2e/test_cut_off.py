"""An edit that a kill has cut off, and what the commands make of it."""

import subprocess
import sys
from pathlib import Path

import pytest

from codeplane.mutation.journal import has_cut_off
from tests.drive import Cpl
from tests.mutation.crash import KILLED, Mortal
from tests.mutation.world import World

ROOT = Path(__file__).parent.parent.parent


def life(root: str, call: int) -> None:
    """Edits two files and ends in the middle of it."""
    world = World(Path(root), Mortal(call, "before"))
    world.recover()
    world.apply(*(world.edit(name, b"changed\n") for name in ("README.md", "new.md")))


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
