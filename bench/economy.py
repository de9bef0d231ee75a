"""What everyday tasks cost an agent, from the question to the commit: these tools against a shell.

Each side does the whole task on a copy of its own and has to come up with the same evidence; where a task
changes something, the same check of the tree is made afterwards. The shell side knows its way, chains its
commands and trims what they print, as agents do. Counted are calls and characters, sent and received; what
these tools answer is the text that a model gets, and their list is paid for once.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import anyio
import yaml

from bench.corpora import python_history
from bench.measure import Figure
from bench.mutants import python_for_suites
from bench.trial import listing
from codeplane.config import Places
from codeplane.server.pipeline import Pipeline, Request
from codeplane.session import Checkout, RepoSession
from codeplane.session.trust import give_trust
from codeplane.tools import all_tools

_MOST: Final = 30_000  # what a shell tool of an agent prints before it is cut
_SUM: Final = 1.0
_FILE: Final = Path(__file__).with_suffix(".yaml")


@dataclass(frozen=True)
class Task:
    """One task of `economy.yaml`."""

    name: str
    ours: list[tuple[str, dict[str, Any]]]
    shell: list[str]
    evidence: list[str] = field(default_factory=list)
    before: str = "true"
    check: str = "true"


@dataclass(frozen=True)
class Spent:
    calls: int
    characters: int
    errors: int = 0


def figures() -> Iterator[Figure]:
    ours_all = theirs_all = 0
    for task in (Task(**row) for row in yaml.safe_load(_FILE.read_text())):
        with tempfile.TemporaryDirectory(prefix="cpl-") as made:
            base = Path(made)
            ours = _ours(task, _copy(base / "ours", task), base)
            theirs = _theirs(task, _copy(base / "theirs", task), base)
        ours_all += ours.characters
        theirs_all += theirs.characters
        told = f"{ours.calls} calls, {ours.characters} characters; shell {theirs.calls}, {theirs.characters}"
        yield Figure(f"{task.name}, calls", ours.calls / theirs.calls, "×", None, told)
        yield Figure(f"{task.name}, characters", ours.characters / theirs.characters, "×", None, told)
    tools = len(listing())
    told = f"{ours_all} + {tools} for the list of tools; shell {theirs_all}"
    yield Figure("all tasks, characters", (ours_all + tools) / theirs_all, "×", _SUM, told)


def _copy(root: Path, task: Task) -> Path:
    shutil.copytree(
        python_history("sqlparse", ("0.5.0", "0.5.3")),
        root,
        symlinks=True,
        ignore=shutil.ignore_patterns(".codeplane"),
    )
    for part, value in (("name", "bench"), ("email", "bench@example.org")):
        _git(root, "config", f"user.{part}", value)
    _shell(task.before, root, {"PATH": os.environ["PATH"]}).check_returncode()
    return root


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout


def suite_environment(base: Path) -> dict[str, str]:
    path = f"{Path(python_for_suites()).parent}:{os.environ['PATH']}"
    return {"HOME": str(base), "PATH": path, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": "."}


def _ours(task: Task, root: Path, base: Path) -> Spent:
    places = Places.of_user(suite_environment(base))
    give_trust(root, places)
    session = RepoSession.open(Checkout.find(root, places))
    texts: list[str] = []
    errors = 0
    try:
        session.index.refresh()
        pipeline = Pipeline(session, all_tools())
        for tool, written in task.ours:
            arguments = _with_ids(written, texts)
            answer = anyio.run(pipeline.call, Request(tool, arguments, "bench"))
            errors += answer.is_error
            texts += [json.dumps({"name": tool, "arguments": arguments}), answer.text]
    finally:
        session.close()
    _check(task, root, texts)
    assert not errors, (task.name, texts)
    return Spent(len(task.ours), sum(map(len, texts)), errors)


def _with_ids(arguments: dict[str, Any], texts: list[str]) -> dict[str, Any]:
    """The arguments with the id of the plan that an answer has named."""
    ids = [match[0] for text in texts for match in re.finditer(r"plan_[0-9a-f]{12}", text)]
    filled: dict[str, Any] = json.loads(json.dumps(arguments).replace("PLAN", ids[-1] if ids else "PLAN"))
    return filled


def _theirs(task: Task, root: Path, base: Path) -> Spent:
    texts = []
    for command in task.shell:
        done = _shell(command, root, suite_environment(base))
        texts += [command, (done.stdout + done.stderr)[:_MOST]]
    _check(task, root, texts)
    return Spent(len(task.shell), sum(map(len, texts)))


def _check(task: Task, root: Path, texts: list[str]) -> None:
    missing = [one for one in task.evidence if not any(one in text for text in texts)]
    assert not missing, f"{task.name}: the answers lack {missing}"
    left = _shell(task.check, root, {"PATH": os.environ["PATH"]})
    assert left.returncode == 0, f"{task.name}: not done: {texts}"


def _shell(command: str, root: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", "-c", command], cwd=root, env=env, capture_output=True, text=True)
