"""What jest and vitest have in common: where their tests are, and the report that both can write."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from codeplane.core.documents import json_object
from codeplane.core.paths import RepoPath
from codeplane.names.snapshot_tree import Tree
from codeplane.testrun.results import Case, Status
from codeplane.testrun.runner import DEFAULT, HIGH, MEDIUM, Ended, Project
from codeplane.testrun.runners._javascript_config import Accepts, is_usual
from codeplane.testrun.runners._places import first_line, first_place, own_frames, relative
from codeplane.testrun.runners._tree import below, common, directory, inside, named
from codeplane.testrun.target import Target, kind_of
from codeplane.testrun.text import plain, shortened

LANGUAGES: Final = ("javascript", "typescript", "tsx")
_ENDINGS: Final = (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts")
COVERAGE: Final = "coverage-final.json"
_LONGEST: Final = 6000
_LARGEST: Final = 64 << 20
_STATUSES: Final = {"passed": Status.PASSED, "failed": Status.FAILED}
_KIND: Final = re.compile(r"^(?:\w+: )?([A-Za-z_]*(?:Error|Exception))\b")


def projects(tree: Tree, runner: str, configs: Sequence[str], *, is_default: bool) -> list[Project]:
    """The directories that are set up for a runner, or that name it among their packages."""
    projects_by_path: dict[RepoPath, Project] = {}
    for path in named(tree, *configs):
        projects_by_path.setdefault(directory(path), Project(runner, directory(path), path, HIGH))
    for path in named(tree, "package.json"):
        package = json_object(tree.text(path))
        if directory(path) not in projects_by_path and (evidence := _runner_evidence(package, runner)):
            projects_by_path[directory(path)] = Project(
                runner, directory(path), f"{path}: {evidence}", MEDIUM
            )
    if is_default and not projects_by_path and any(tests(tree, RepoPath(""))):
        projects_by_path[RepoPath("")] = Project(runner, RepoPath(""), "default", DEFAULT)
    return list(projects_by_path.values())


def _runner_evidence(package: Mapping[str, Any], runner: str) -> str:
    """Where a package says that it uses a runner; "" for nowhere."""
    if runner in package:
        return runner
    for group in ("devDependencies", "dependencies"):
        if isinstance(package.get(group), dict) and runner in package[group]:
            return f"{group}.{runner}"
    return ""


def tests(
    tree: Tree, root: RepoPath, accepts: Accepts = is_usual, more: re.Pattern[str] | None = None
) -> Iterator[RepoPath]:
    """The test files below a directory; `more` are those of other names."""
    return (
        path
        for path in below(tree, root, *_ENDINGS)
        if (accepts(path) and not path.endswith(".d.ts")) or (more is not None and more.search(path))
    )


def targets(
    tree: Tree, project: Project, accepts: Accepts, more: re.Pattern[str] | None = None
) -> list[Target]:
    return [
        Target(
            path,
            project.runner,
            language(path),
            path,
            project.root,
            kind_of(path),
            selector=inside(path, project.root),
        )
        for path in tests(tree, project.root, accepts, more)
    ]


def narrowed(target: Target, tests: Sequence[str]) -> Target:
    return replace(target, only=target.names(tests))


def name_pattern(batch: Sequence[Target]) -> list[str]:
    """The option that leaves out all but single tests."""
    only = common(batch)
    return [f"--testNamePattern=^({'|'.join(map(_escape_name, only))})$"] if only else []


def _escape_name(name: str) -> str:
    return re.sub(r"[\\^$.*+?()\[\]{}|/]", r"\\\g<0>", name)


def language(path: str) -> str:
    return (
        "tsx"
        if path.endswith(".tsx")
        else "typescript"
        if path.endswith((".ts", ".mts", ".cts"))
        else "javascript"
    )


def cases(ended: Ended, report: str, runner: str) -> list[Case]:
    """The tests that a report tells of; without one, what the runner has said instead."""
    root, cwd = ended.place.root, ended.targets[0].root
    by_path = {target.path: target.id for target in ended.targets}
    matches: list[Case] = []
    for suite in _suites_of(ended.reports / report):
        path = relative(str(suite.get("name", "")), root, cwd)
        matches += _of_suite(suite, path, by_path.get(RepoPath(path), ""), root)
    if only := {f"{target.path}::{name}" for target in ended.targets for name in target.only}:
        # Those that were not asked for are told as skipped.
        matches = [case for case in matches if case.id in only or case.status is not Status.SKIPPED]
    if not matches and not ended.finished.is_ok and ended.finished.code is not None:
        said = plain(ended.finished.said)
        path, line = first_place(said, root, cwd)
        message = first_line(said) or f"{runner} ended with code {ended.finished.code}"
        matches.append(
            Case(
                runner, "", Status.ERROR, 0.0, message, "RunnerFailed", path, line, shortened(said, _LONGEST)
            )
        )
    return matches


def _suites_of(report: Path) -> list[Mapping[str, Any]]:
    try:
        with report.open("rb") as stream:
            read = json_object(stream.read(_LARGEST), _LARGEST)
    except OSError:
        return []
    suites = read.get("testResults")
    return [suite for suite in suites if isinstance(suite, dict)] if isinstance(suites, list) else []


def _of_suite(suite: Mapping[str, Any], path: str, target: str, root: Path) -> Iterator[Case]:
    tests = suite.get("assertionResults")
    entries = [test for test in tests if isinstance(test, dict)] if isinstance(tests, list) else []
    for test in entries:
        yield _case_of_test(test, path, target, root)
    if suite.get("status") == "failed" and not any(test.get("status") == "failed" for test in entries):
        said = plain(str(suite.get("message", "")))
        at, line = first_place(said, root)
        yield Case(
            path,
            target,
            Status.ERROR,
            0.0,
            _failure_message(said),
            _failure_kind(said),
            at or path,
            line,
            shortened(own_frames(said, root), _LONGEST),
        )


def _case_of_test(test: Mapping[str, Any], path: str, target: str, root: Path) -> Case:
    status = _STATUSES.get(str(test.get("status")), Status.SKIPPED)
    name = str(test.get("fullName") or test.get("title") or "").strip()
    messages = test.get("failureMessages")
    said = plain("\n".join(map(str, messages))) if isinstance(messages, list) else ""
    took = test.get("duration")
    seconds = took / 1000 if isinstance(took, int | float) else 0.0
    if status is not Status.FAILED:
        return Case(f"{path}::{name}", target, status, seconds)
    at, line = first_place(said, root)
    spot = test.get("location")
    if not at and isinstance(spot, dict) and isinstance(spot.get("line"), int):
        at, line = path, spot["line"]
    return Case(
        f"{path}::{name}",
        target,
        status,
        seconds,
        _failure_message(said),
        _failure_kind(said),
        at or path,
        line,
        shortened(own_frames(said, root), _LONGEST),
    )


def _failure_message(said: str) -> str:
    """The message of a failure: what jest and vitest write before the stack, without its type."""
    return _failure_text(said).removeprefix(f"{_failure_kind(said)}: ")


def _failure_kind(said: str) -> str:
    match = _KIND.match(_failure_text(said))
    return match[1] if match else ""


def _failure_text(said: str) -> str:
    return first_line(said.replace("● Test suite failed to run", ""))
