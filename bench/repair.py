"""A failing test of a real package fixed from start to end, by these tools and by the commands of a shell.

A fault is planted in sqlparse. Both sides run the suite, read a test that fails and what is behind it, mend
it, run tests again and commit; then the fault is gone and its file committed. Counted are calls and
characters.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio

from bench.measure import Figure
from bench.mutants import Suite, python_for_suites
from codeplane.config import Places
from codeplane.server.pipeline import Pipeline, Request
from codeplane.session import Checkout, RepoSession
from codeplane.session.trusting import give_trust
from codeplane.tools import all_tools

_SUITE = Suite("sqlparse", "0.5.3", "sqlparse")
_FILE = "sqlparse/utils.py"
_RIGHT, _WRONG = "val = val[1:-1]", "val = val[1:]"
_TEST = "tests/test_utils.py"
_CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("run_test_targets", {}),
    ("read_source", {"targets": [f"{_TEST}:test_remove_quotes", "sqlparse.utils.remove_quotes"]}),
    ("write_source", {"edits": [{"path": _FILE, "expected_content": _WRONG, "new_content": _RIGHT}]}),
    ("run_test_targets", {"affected_by": "changes"}),
    ("git_commit", {"message": "Strip the closing quote too", "paths": [_FILE]}),
)
_COMMANDS = (
    "pytest -q --tb=short tests",
    f"sed -n 1,14p {_TEST}",
    "rg -n --no-heading -A 8 'def remove_quotes' sqlparse",
    f"sed -i 's/{_WRONG.replace('[', '.').replace(']', '.')}/{_RIGHT}/' {_FILE}",
    "git diff",
    "pytest -q --tb=short tests",
    f"git add {_FILE} && git commit -m 'Strip the closing quote too'",
    "git status --short",
)


def figures() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(prefix="cpl-") as made:
        base = Path(made)
        ours = _ours(_planted(base / "ours"), base)
        theirs = _theirs(_planted(base / "theirs"), base)
    told = f"{ours[1]} characters, {ours[0]} calls; shell {theirs[1]}, {theirs[0]}"
    yield Figure("a failing test fixed, calls", ours[0] / theirs[0], "×", 1, told)
    yield Figure("a failing test fixed, characters", ours[1] / theirs[1], "×", None, told)


def _planted(root: Path) -> Path:
    _SUITE.copied(root)
    file = root / _FILE
    assert _RIGHT in file.read_text(), "BUG: there is nothing to break"
    file.write_text(file.read_text().replace(_RIGHT, _WRONG))
    for command in (["add", "-A"], ["commit", "-qm", "as it came"]):
        subprocess.run(["git", *_AUTHOR, *command], cwd=root, check=True)
    for name, value in (("user.name", "bench"), ("user.email", "bench@example.org")):
        subprocess.run(["git", "config", name, value], cwd=root, check=True)
    return root


_AUTHOR = ("-c", "user.name=bench", "-c", "user.email=bench@example.org")


def _environment(base: Path) -> dict[str, str]:
    path = f"{Path(python_for_suites()).parent}:{os.environ['PATH']}"
    return {"HOME": str(base), "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


def _ours(root: Path, base: Path) -> tuple[int, int]:
    places = Places.of_user(_environment(base))
    give_trust(root, places)
    session = RepoSession.open(Checkout.find(root, places))
    characters = 0
    try:
        session.index.refresh()
        pipeline = Pipeline(session, all_tools())
        for number, (tool, arguments) in enumerate(_CALLS):
            answer = anyio.run(pipeline.call, Request(tool, arguments, "bench"))
            assert not answer.is_error, (tool, answer.body["error"])
            if tool == "run_test_targets":
                assert answer.body["result"]["ok"] is (number > 0), answer.text
            characters += len(json.dumps({"name": tool, "arguments": arguments})) + len(answer.text)
    finally:
        session.close()
    _check(root, base)
    return len(_CALLS), characters


def _theirs(root: Path, base: Path) -> tuple[int, int]:
    characters = 0
    for command in _COMMANDS:
        done = subprocess.run(
            ["bash", "-c", command], cwd=root, env=_environment(base), capture_output=True, text=True
        )
        characters += len(command) + len(done.stdout) + len(done.stderr)
    _check(root, base)
    return len(_COMMANDS), characters


def _check(root: Path, base: Path) -> None:
    """The fault is mended and committed."""
    assert _RIGHT in (root / _FILE).read_text(), "the fault is still there"
    left = subprocess.run(
        ["git", "status", "--short", "--", "sqlparse"], cwd=root, capture_output=True, text=True
    )
    assert not left.stdout, left.stdout
