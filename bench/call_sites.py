"""Parameters that no call may miss, added to functions of real packages with all calls; suites are judges.

The parameter has no default, so that a call which was not changed fails where the suite reaches it.
`python -m bench.call_sites` prints each function that was refused, with the reason.
"""

import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.delta.plans import PlanRepo

from bench.__main__ import run
from bench.corpora import python_package
from bench.measure import Figure
from bench.package_plans import Candidate, choose_proven, missing_figure, new_parameter, opened_copy
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
    count = sum(trial.changes for trial in trials)
    most = FUNCTIONS * len(PACKAGES)
    return missing_figure("functions", count, most, f"{count} functions of {len(trials)} packages")


def _trial(name: str, version: str, tests: str) -> Trial:
    [source] = [one for one in python_package(name, version).iterdir() if one.name != ".git"]
    with opened_copy(source) as repo:
        return _measured(repo, name, pytest(tests))


def _measured(repo: PlanRepo, name: str, check: Check) -> Trial:
    before = check(repo.root, BROKEN)
    candidates = random.Random(7).sample(pool := list(_candidates(repo.root)), min(CANDIDATES, len(pool)))
    choice = choose_proven(repo, candidates, FUNCTIONS)
    plan = repo.create(choice.elements)
    repo.result("execute_deltas", plan=plan, confidence="validated")
    after = check(repo.root, BROKEN)
    tries = choice.reasons.total() + len(choice.green)
    return Trial(name, tries, len(choice.green), choice.calls, choice.reasons, (before, after))


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
            place = {"before": before} if before else {}
            yield new_parameter(where.as_posix(), one.address, "None", **place)


if __name__ == "__main__":
    sys.exit(run("call_sites"))
