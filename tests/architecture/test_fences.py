"""I/O has owners: ruff's banned names hold the fences, and these tests see them fall."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def lint(name: str, source: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--stdin-filename", name, "--output-format", "concise", "-"],
        cwd=ROOT,
        input=source,
        capture_output=True,
        text=True,
    )
    return done.stdout


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import subprocess\n", "Programs are started by codeplane.process alone"),
        ("import sqlite3\n", "Databases are opened by codeplane.storage alone"),
        ("import os\nos.environ\n", "The environment is read once"),
        ("import os\nos.replace('a', 'b')\n", "Files are replaced by"),
    ],
)
def test_io_outside_its_owner_is_refused(source: str, reason: str) -> None:
    assert reason in lint("src/codeplane/session/new.py", source)


def test_the_owner_of_the_environment_may_read_it() -> None:
    assert "TID251" not in lint("src/codeplane/config/places.py", "import os\nos.environ\n")


def test_the_owner_of_renames_may_rename_and_the_engine_above_it_may_not() -> None:
    source = "import os\nos.rename('a', 'b')\nos.link('a', 'b')\n"
    assert "TID251" not in lint("src/codeplane/storage/disk.py", source)
    assert lint("src/codeplane/mutation/carry.py", source).count("TID251") == 2


def test_no_code_asks_a_node_for_its_point() -> None:
    """`Node.start_point` of tree-sitter 0.26 frees what it does not own and ends the process later."""
    asking = re.compile(r"\.(?:start|end)_point\b")
    sources = (ROOT / "src" / "codeplane").rglob("*.py")
    lines = [(file, line) for file in sources for line in file.read_text().splitlines()]
    assert not [f"{file}: {line}" for file, line in lines if asking.search(line) and "`" not in line]
