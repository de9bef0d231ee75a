"""Parameters that no call may miss, added to functions of real packages with all calls; suites are judges.

The parameter has no default, so that a call which was not changed fails where the suite reaches it.
`python -m bench.call_sites` prints each function that was refused, with the reason.
"""

import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.delta.plans import PlanRepo

from bench.__main__ import run
from bench.corpora import python_package
from bench.measure import Figure
from bench.suites import BROKEN, Check, pytest
from codeplane.languages.operations import Source
from codeplane.languages.operations.addresses import definitions_in
from codeplane.languages.python.operations._signatures import is_method, parameters_of

# Name, version, directory of the tests.
PACKAGES = (
    ("sqlparse", "0.5.3", "tests"),
    ("boltons", "25.0.0", "tests"),
    ("marshmallow", "4.0.1", "tests"),
)
FUNCTIONS = 10  # of each package
CANDIDATES = 200
NAME = "added_by_plan"
_CHANGED = re.compile(r"(\d+) calls? in \d+ files? changed\.")
_IGNORED = ("*.egg-info", ".git", ".codeplane", "__pycache__")


class Candidate(NamedTuple):
    """A function that gets a parameter."""

    path: str
    address: str
    before: str | None  # the first parameter with a default, which the new one goes before

    @property
    def name(self) -> str:
        """The last part of its address."""
        return self.address.rpartition(".")[2]

    @property
    def transform(self) -> dict[str, Any]:
        place = {"before": self.before} if self.before else {}
        return {
            "operation": "add_parameter",
            "target": self.address,
            "name": NAME,
            "argument": "None",
            "call_sites": True,
            **place,
        }


class Trial(NamedTuple):
    """What has come of one package."""

    name: str
    tries: int
    changes: int  # functions that have the parameter now
    calls: int
    reasons: Counter[str]  # of the others
    failures: tuple[int, int]  # of the suite, before and after


def figures() -> list[Figure]:
    trials = [_trial(*package) for package in PACKAGES]
    return [*map(_figure_of, trials), _total(trials)]


def _figure_of(trial: Trial) -> Figure:
    detail = f"{trial.changes} functions, {trial.calls} calls; {trial.tries - trial.changes} others refused"
    return Figure(f"{trial.name} tests broken", trial.failures[1] - trial.failures[0], "", 0, detail)


def _total(trials: list[Trial]) -> Figure:
    done = sum(trial.changes for trial in trials)
    return Figure("functions missing of 30", 30 - done, "", 0, f"{done} functions of {len(trials)} packages")


def _trial(name: str, version: str, tests: str) -> Trial:
    with tempfile.TemporaryDirectory(prefix="cpl-") as folder:
        home = Path(folder) / "repo"
        [source] = [one for one in python_package(name, version).iterdir() if one.name != ".git"]
        shutil.copytree(source, home, symlinks=True, ignore=shutil.ignore_patterns(*_IGNORED))
        for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "as published"]):
            identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.org"]
            subprocess.run(["git", *identity, *command], cwd=home, check=True)
        repo = PlanRepo.at(home, Path(folder))
        return _measured(repo, name, pytest(tests))


def _measured(repo: PlanRepo, name: str, check: Check) -> Trial:
    before = check(repo.root, BROKEN)
    candidates = random.Random(7).sample(pool := list(_candidates(repo.root)), min(CANDIDATES, len(pool)))
    green, reasons = _validated(repo, candidates)
    plan = repo.create([_element(candidate) for candidate, _ in green])
    repo.result("execute_deltas", plan=plan, confidence="validated")
    calls = sum(count for _, count in green)
    after = check(repo.root, BROKEN)
    return Trial(name, sum(reasons.values()) + len(green), len(green), calls, reasons, (before, after))


def _validated(
    repo: PlanRepo, candidates: list[Candidate]
) -> tuple[list[tuple[Candidate, int]], Counter[str]]:
    """The first functions whose calls are all proven, with how many there are, and why others are not."""
    green: list[tuple[Candidate, int]] = []
    reasons: Counter[str] = Counter()
    for candidate in candidates:
        if len(green) == FUNCTIONS:
            break
        if candidate.name in {one.name for one, _ in green}:
            continue  # methods that override each other get it together
        result = repo.result("delta_try", elements=[_element(candidate)])
        calls = _call_count(result)
        if calls:
            green.append((candidate, calls))
        else:
            reason = "no call" if result["outcome"] == "green" else _reason_of(result)
            reasons[reason] += 1
            print(f"  {candidate.path} {candidate.address}: {reason}", file=sys.stderr)
    return green, reasons


def _element(candidate: Candidate) -> dict[str, Any]:
    return {"path": candidate.path, "transforms": [candidate.transform]}


def _call_count(result: dict[str, Any]) -> int:
    """How many calls were changed; none where the task is red."""
    matches = [_CHANGED.fullmatch(note) for note in result.get("notes") or ()]
    return sum(int(match[1]) for match in matches if match is not None)


def _reason_of(result: dict[str, Any]) -> str:
    lines = "\n".join(result["problems"]).splitlines()
    places = [line.rpartition(" (")[2].removesuffix(")") for line in lines if line.endswith(")")]
    return (places[0] if places else lines[0])[:160]


def _candidates(root: Path) -> Iterator[Candidate]:
    """Functions and methods of the package itself that have an address of their own."""
    for path in sorted(root.rglob("*.py")):
        where = path.relative_to(root)
        if any(part in ("tests", "test", "docs", "examples", "misc") for part in where.parts):
            continue
        source = Source("python", path.read_bytes())
        for one in definitions_in(source):
            name = source.text(one.name) if one.name is not None else ""
            is_plain = one.node.type == "function_definition" and "#" not in one.address
            if not is_plain or (name.startswith("__") and name != "__init__"):
                continue
            _, parameters = parameters_of(source, one.node)
            own = parameters[1:] if is_method(source, one.node) else parameters
            names = [
                (item, source.text(item.name)) for item in own if item.name is not None and not item.mark
            ]
            before = next((text for item, text in names if item.default is not None), None)
            yield Candidate(where.as_posix(), one.address, before)


if __name__ == "__main__":
    sys.exit(run("call_sites"))
