"""`make check` in the suite: format, lint and types."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(
    "command", [["ruff", "format", "--check", "."], ["ruff", "check", "."], ["mypy"]], ids=" ".join
)
def test_the_code_is_clean(command: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
