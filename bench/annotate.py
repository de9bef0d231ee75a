"""An untyped package annotated from its stubs by one plan: Markdown 3.4.4, a task a function, tested by mypy.

A function that the stubs leave out because it overrides another has the types of that one. What mypy refutes
is rejected in the plan as an author would do it, the rest is executed, and the package's own suite judges.
`python -m bench.annotate` prints what was rejected, with the reasons.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import anyio

from bench import suites
from bench.corpora import CACHE, python_package
from bench.measure import Figure
from bench.stubs import PackageStubs, signatures_in
from codeplane.config import Places
from codeplane.server.answer import Answer
from codeplane.server.pipeline import Pipeline, Request
from codeplane.session import Checkout, RepoSession
from codeplane.session.trust import give_trust
from codeplane.tools import all_tools

PACKAGE = ("Markdown", "3.4.4")
STUBS = ("types-Markdown", "3.8.0.20250809")
_MOST_ROUNDS = 12
_TOOLCHAIN = """[validators.types]
command = "mypy"
args = ["markdown"]
scope = "project"
timeout_seconds = 300
"""
# Untyped bodies are not checked, annotated ones are; what they do with values that may be None, and variables
# that would need types of their own, are beyond signatures.
_MYPY = """[mypy]
python_version = 3.11
ignore_missing_imports = True
strict_optional = False
warn_no_return = False
disable_error_code = var-annotated, empty-body
# It sets an attribute of a module of the standard library, from a string of several lines.
[mypy-markdown.htmlparser]
disable_error_code = attr-defined
"""
_DIAGNOSTIC = re.compile(r"^(markdown/\S+?\.py):(\d+)(?::\d+)?:? error:? (.*)$", re.MULTILINE)


class Rejection(NamedTuple):
    """A task that mypy does not agree with."""

    title: str
    reason: str


class Outcome(NamedTuple):
    """What came of the plan."""

    functions: int
    tasks: int
    files: int
    rejections: list[Rejection]
    validation_sec: float  # the last one, with mypy
    execution_sec: float
    suite: tuple["Suite", "Suite"]  # before and after


class Suite(NamedTuple):
    """A run of the package's own tests."""

    tests: int
    failures: int


def figures() -> Iterator[Figure]:
    outcome = annotate_package()
    done = outcome.tasks - len(outcome.rejections)
    before, after = outcome.suite
    detail = (
        f"{done} of {outcome.tasks} tasks in {outcome.files} files tested by mypy and executed; stubs have "
        f"types of {outcome.tasks} of {outcome.functions} functions; "
        f"validated in {outcome.validation_sec:.0f} s, executed in {outcome.execution_sec:.0f} s"
    )
    yield Figure("tasks that mypy refutes", 100 * len(outcome.rejections) / outcome.tasks, "%", None, detail)
    detail = (
        f"{after.failures} of {after.tests} fail after the plan, {before.failures} of {before.tests} before"
    )
    is_whole = after.tests == before.tests > 0
    broken = after.failures - before.failures if is_whole else before.tests
    yield Figure("tests broken by annotations", broken, "", 0, detail)


def annotate_package() -> Outcome:
    with tempfile.TemporaryDirectory(prefix="cpl-") as folder:
        root = _prepared_copy(Path(folder) / "repo")
        before = _run_suite(root)
        places = Places.of_user(
            {"HOME": folder, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        )
        give_trust(root, places)
        session = RepoSession.open(Checkout.find(root, places))
        try:
            outcome = _Author(root, Pipeline(session, all_tools())).run()
        finally:
            session.close()
        return outcome._replace(suite=(before, _run_suite(root)))


_NOT_RUN = Suite(0, 0)


def _run_suite(root: Path) -> Suite:
    python = suites.environment("suites", suites.NEEDED)
    command = [python, "-B", "-m", "unittest", "discover", "tests"]
    output = subprocess.run(command, cwd=root, capture_output=True, text=True).stderr
    count = re.search(r"^Ran (\d+) tests", output, re.MULTILINE)
    failures = sum(int(number) for number in re.findall(r"(?:failures|errors)=(\d+)", output))
    return Suite(int(count[1]) if count else 0, failures)


class _Author:
    """Writes the plan, has it validated, rejects what mypy refutes, and executes the rest."""

    def __init__(self, root: Path, pipeline: Pipeline) -> None:
        self._root, self._pipeline = root, pipeline
        self._stubs = PackageStubs.read(_stub_folder(), root / "markdown")

    def run(self) -> Outcome:
        functions = sum(1 for path in self._stubs.sources for _ in signatures_in(self._root / path))
        phases: list[dict[str, Any]] = [
            {"title": "Imports", "key": "imports", "tasks": []},
            {"title": "Signatures", "key": "signatures", "tasks": []},
        ]
        for path in self._stubs.sources:
            tasks = list(self._function_tasks(path))
            if tasks:
                phases[0]["tasks"] += [_task(path, f"imports of {path}", self._stubs.import_transforms(path))]
                phases[1]["tasks"] += tasks
        count = len(phases[1]["tasks"])
        plan = self._result("plan_create", title="Annotate Markdown from its stubs", phases=phases)["plan"]
        self._result("execute_deltas", plan=plan, phase="imports")
        rejections, validation = self._settle(plan)
        started = time.perf_counter()
        self._result("execute_deltas", plan=plan)
        execution = time.perf_counter() - started
        files = len(phases[0]["tasks"])
        return Outcome(functions, count, files, rejections, validation, execution, (_NOT_RUN, _NOT_RUN))

    def _function_tasks(self, path: str) -> Iterator[dict[str, Any]]:
        for signature in signatures_in(self._root / path):
            transforms = self._stubs.type_transforms(path, signature)
            if transforms:
                yield _task(path, f"{path} {signature.address}", transforms)

    def _settle(self, plan: str) -> tuple[list[Rejection], float]:
        """Validates until everything that is left is green; the time of the last validation."""
        rejections: list[Rejection] = []
        for _ in range(_MOST_ROUNDS):
            started = time.perf_counter()
            answer = self._ask("validate_deltas", plan=plan)
            validation = time.perf_counter() - started
            assert not answer.is_error, answer.text
            phases = answer.body["result"]["phases"]
            if all(task["status"] == "green" for phase in phases for task in phase["tasks"]):
                return rejections, validation
            bad = dict(self._refuted(plan, phases))
            assert bad, answer.text[:3000]
            updates = [{"item": item, "state": "rejected"} for item in bad]
            self._result("plan_update", plan=plan, updates=updates)
            rejections += bad.values()
        raise AssertionError(f"not settled after {_MOST_ROUNDS} rounds")

    def _refuted(self, plan: str, phases: list[dict[str, Any]]) -> Iterator[tuple[str, Rejection]]:
        """The tasks that are red by themselves, else those whose functions mypy complains about."""
        tasks = [task for phase in phases for task in phase["tasks"] if task["status"] != "green"]
        complaints: list[str] = []
        for task in tasks:
            problems = self._result("plan_show", item=task["id"])["derived"]["delta_detail"]["problems"]
            own = [one for one in problems if one["kind"] != "validator"]
            if own:
                yield task["id"], Rejection(task["title"], own[0]["text"])
            elif not complaints:
                complaints = [line for one in problems for line in one.get("details", ())]
        items = self._result("plan_show", plan=plan, limit=2000)["items"]
        titles = {item["title"]: item["id"] for item in items if item.get("delta") == "red"}
        for path, line, text in _DIAGNOSTIC.findall("\n".join(complaints)):
            address = f"{path} {self._function_at(path, int(line))}"
            if address in titles:
                yield titles[address], Rejection(address, text)

    def _function_at(self, path: str, line: int) -> str:
        """The function that a line stands in: annotations leave the numbers of lines as they are."""
        around = [
            one
            for one in signatures_in(self._root / path)
            if min([one.node.lineno, *(item.lineno for item in one.node.decorator_list)]) <= line
            and line <= (one.node.end_lineno or 0)
        ]
        return around[-1].address if around else ""

    def _ask(self, tool: str, **arguments: Any) -> Answer:
        return anyio.run(self._pipeline.call, Request(tool, arguments, "bench"))

    def _result(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = self._ask(tool, **arguments)
        assert not answer.is_error, answer.text[:3000]
        result: dict[str, Any] = answer.body["result"]
        return result


def _task(path: str, title: str, transforms: list[dict[str, Any]]) -> dict[str, Any]:
    element = {"path": path, "transforms": transforms, "validate_with": ["types"]}
    return {"title": title, "delta": {"elements": [element]}}


def _prepared_copy(root: Path) -> Path:
    """The package, passing mypy, committed, with a toolchain."""
    [source] = [path for path in python_package(*PACKAGE).iterdir() if path.name != ".git"]
    shutil.copytree(source, root)  # with its metadata, by which it finds its extensions
    (root / "mypy.ini").write_text(_MYPY)
    (root / ".gitignore").write_text("__pycache__/\n.mypy_cache/\n")
    _silence(root)
    shutil.rmtree(root / ".mypy_cache")
    identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.org"]
    for arguments in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "Markdown"]):
        subprocess.run(["git", *arguments], cwd=root, check=True)
    (root / ".codeplane").mkdir()
    (root / ".codeplane" / "toolchain.toml").write_text(_TOOLCHAIN)
    return root


def _silence(root: Path) -> None:
    """Has mypy pass on the package as it is: `# type: ignore` on the lines that it complains about."""
    command = [sys.executable, "-m", "mypy", "markdown"]
    for _ in range(3):
        output = subprocess.run(command, cwd=root, capture_output=True, text=True).stdout
        places = {(path, int(line)) for path, line, _ in _DIAGNOSTIC.findall(output)}
        for path, line in places:
            lines = (root / path).read_text().split("\n")
            lines[line - 1] += "  # type: ignore"
            (root / path).write_text("\n".join(lines))
        if not places:
            return
    raise AssertionError(f"mypy does not pass: {output}")


def _stub_folder() -> Path:
    """The stubs, fetched once."""
    folder = CACHE / "-".join(STUBS)
    if not folder.exists():
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder)]
        subprocess.run([*command, "==".join(STUBS)], check=True)
        [wheel] = folder.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
    return folder / "markdown-stubs"


if __name__ == "__main__":
    result = annotate_package()
    print(result._replace(rejections=[]))
    for rejection in result.rejections:
        print(f"{rejection.title}: {rejection.reason}")
