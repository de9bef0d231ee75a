"""One-line mutants of real packages and the tests that kill each, drawn with a fixed seed and kept."""

import ast
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from bench.corpora import CACHE, python_package

SEED = 11
WANTED = 30
_MOST_TRIED = 120
_LEAST_SEC = 30
_SWAPS = {
    ast.Eq: "!=", ast.NotEq: "==", ast.Lt: ">=", ast.GtE: "<", ast.Gt: "<=", ast.LtE: ">",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
_DROPPED = (ast.Expr, ast.Assign, ast.AugAssign, ast.Raise)
_HOME = CACHE.parent / "mutants"
_PLUGIN = """
import json, os
_told = {"all": [], "failed": []}
def pytest_collection_finish(session):
    _told["all"] = [item.nodeid for item in session.items]
def pytest_collectreport(report):
    if report.failed:
        _told["failed"].append(report.nodeid)
def pytest_runtest_logreport(report):
    if report.failed:
        _told["failed"].append(report.nodeid)
def pytest_sessionfinish(session):
    with open(os.environ["TOLD"], "w") as file:
        json.dump(_told, file)
"""


@dataclass(frozen=True)
class Suite:
    """A package of the registry with its tests."""

    name: str
    version: str
    source: str  # directory of its modules
    tests: str = "tests"
    flaky: tuple[str, ...] = ()  # tests that fail at times by themselves, and kill nothing

    def copied(self, target: Path) -> Path:
        """A copy that may be changed, a repository of its own."""
        [project] = [
            path for path in python_package(self.name, self.version).iterdir() if path.name != ".git"
        ]
        shutil.copytree(project, target, symlinks=True, ignore=shutil.ignore_patterns("*.egg-info"))
        subprocess.run(["git", "init", "-q"], cwd=target, check=True)
        return target

    def environment(self, root: Path) -> dict[str, str]:
        above = root / "src" if (root / "src").is_dir() else root
        return {"PATH": os.environ["PATH"], "PYTHONPATH": str(above), "PYTHONDONTWRITEBYTECODE": "1"}


class Mutant(NamedTuple):
    path: str
    line: int
    operator: str
    column: int
    end: int
    text: str  # what stands there instead

    @property
    def told(self) -> str:
        return f"{self.path}:{self.line} {self.operator}: {self.text}"

    def apply(self, root: Path) -> bytes:
        """Changes the file; returns what it was."""
        before = (root / self.path).read_bytes()
        lines = before.split(b"\n")
        old = lines[self.line - 1]
        lines[self.line - 1] = old[: self.column] + self.text.encode() + old[self.end :]
        (root / self.path).write_bytes(b"\n".join(lines))
        return before


class Killed(NamedTuple):
    mutant: Mutant
    tests: list[str]  # of which each fails by it


def python_for_suites() -> str:
    """An environment with what the suites and the comparison need, made once."""
    home = CACHE.parent / "impact"
    python = home / "bin" / "python"
    if not python.exists():
        needed = ("pytest", "coverage", "pytest-testmon", "simplejson", "freezegun")
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-qq", *needed], check=True)
    return str(python)


def killed_mutants(suite: Suite, base: Path) -> tuple[list[str], list[Killed]]:
    """All tests of a suite, and mutants that it kills; what was found once is not run again."""
    root = suite.copied(base / "kills")
    kept = _HOME / f"{suite.name}-{suite.version}.json"
    known: dict[str, Any] = json.loads(kept.read_text()) if kept.exists() else {}
    if "all" not in known:
        told = _run(suite, root, base)
        assert told is not None, f"BUG: the suite of {suite.name} cannot be run"
        known |= told | {"mutants": {}}
    already = {*known["failed"], *suite.flaky}
    found: list[Killed] = []
    drawn = list(_drawn(suite, root))
    for mutant in drawn[:_MOST_TRIED]:
        if len(found) == WANTED:
            break
        key = hashlib.sha256(repr(mutant).encode()).hexdigest()[:16]
        if key not in known["mutants"]:
            before = mutant.apply(root)
            told = _run(suite, root, base)
            (root / mutant.path).write_bytes(before)
            known["mutants"][key] = sorted(told["failed"]) if told else []
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(known))
        if failed := sorted(set(known["mutants"][key]) - already):
            found.append(Killed(mutant, failed))
    shutil.rmtree(root)
    return known["all"], found


def _run(suite: Suite, root: Path, base: Path) -> dict[str, list[str]] | None:
    """All tests and those that fail; None where the suite has to be stopped."""
    (base / "told_plugin.py").write_text(_PLUGIN)
    (base / "told.json").unlink(missing_ok=True)
    environment = suite.environment(root)
    environment |= {"PYTHONPATH": f"{environment['PYTHONPATH']}:{base}", "TOLD": str(base / "told.json")}
    command = [python_for_suites(), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "told_plugin"]
    command += ["-p", "no:testmon", "--no-header", "--tb=no", suite.tests]
    try:
        subprocess.run(command, cwd=root, env=environment, capture_output=True, timeout=_LEAST_SEC * 4)
    except subprocess.TimeoutExpired:
        return None
    told = base / "told.json"
    found: dict[str, list[str]] = json.loads(told.read_text()) if told.exists() else {}
    return found or None


def _drawn(suite: Suite, root: Path) -> Iterator[Mutant]:
    found = [
        mutant
        for path in sorted((root / suite.source).rglob("*.py"))
        if "tests" not in path.relative_to(root).parts
        for mutant in _mutants(path.relative_to(root).as_posix(), path.read_text())
    ]
    random.Random(SEED).shuffle(found)
    return iter(found)


def _mutants(path: str, text: str) -> Iterator[Mutant]:
    lines = text.encode().split(b"\n")
    for node in ast.walk(ast.parse(text)):
        for operator, first, last, made in _changes(node):
            if first[0] == last[0]:
                row = lines[first[0] - 1]
                old = row[first[1] : last[1]].decode()
                yield Mutant(path, first[0], operator, first[1], last[1], made.replace("\0", old))


_Change = tuple[str, tuple[int, int], tuple[int, int], str]


def _changes(node: ast.AST) -> Iterator[_Change]:
    """What can be done to a node: the operator, where it begins and ends, and what comes instead."""
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield "negate condition", *_ends(node.test), "not (\0)"
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        first, last = _ends(node.left)[1], _ends(node.comparators[0])[0]
        yield "swap comparison", first, last, f" {_SWAPS[type(node.ops[0])]} "
    if isinstance(node, ast.Constant) and type(node.value) is int:
        yield "off by one", *_ends(node), str(node.value + 1)
    if isinstance(node, _DROPPED) and not _is_docstring(node):
        yield "drop statement", *_ends(node), "pass"
    if isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
        yield "return None", *_ends(node), "return None"


def _ends(node: ast.expr | ast.stmt) -> tuple[tuple[int, int], tuple[int, int]]:
    assert node.end_lineno is not None and node.end_col_offset is not None
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def functions_of(tests: Sequence[str]) -> set[str]:
    """Tests without their parameters."""
    return {one.partition("[")[0] for one in tests}
