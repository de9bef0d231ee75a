"""What Maven and Gradle have in common: classes with tests, and reports beside what was built."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.names.snapshot_tree import Tree
from codeplane.testrun.results import Case, Status
from codeplane.testrun.runner import Ended, Project
from codeplane.testrun.runners._junit import Context, junit_cases
from codeplane.testrun.runners._places import first_line, first_place
from codeplane.testrun.runners._tree import below, inside, nearest
from codeplane.testrun.target import Target, kind_of
from codeplane.testrun.text import plain, shortened

LANGUAGES: Final = ("java", "kotlin", "scala")
_ENDINGS: Final = {".java": "java", ".kt": "kotlin", ".scala": "scala"}
_TEST: Final = re.compile(
    r"(?:^|/)src/(test|[a-z]\w*Test|integrationTest)/(?:java|kotlin|scala)/(.+)\.(?:java|kt|scala)$"
)
_NAME: Final = re.compile(r"(?:^Test.+|.+(?:Test|Tests|TestCase|IT|Spec))$")
_COMPILER: Final = re.compile(r"(/\S+?\.(?:java|kt|scala)):\[?(\d+)[^\n]*", re.MULTILINE)
_FRAME: Final = re.compile(r"at (?:\S*/)?([\w.$]+)\.[\w$<>]+\((\w+\.(?:java|kt|scala)):(\d+)\)")
_LONGEST: Final = 6000


def targets(tree: Tree, project: Project, roots: set[RepoPath]) -> list[Target]:
    """The test classes of a module, by their full names."""
    all_targets: list[Target] = []
    for path in below(tree, project.root, *_ENDINGS):
        place = _TEST.search(path)
        if (
            place is None
            or nearest(path, roots) != project.root
            or not _NAME.search(place[2].rpartition("/")[2])
        ):
            continue
        name = place[2].replace("/", ".")
        language = _ENDINGS[path[path.rindex(".") :]]
        kind = (
            "integration"
            if "ntegration" in place[1] or name.endswith("IT")
            else kind_of(inside(path, project.root))
        )
        all_targets.append(Target(name, project.runner, language, path, project.root, kind, selector=name))
    return all_targets


def cases(ended: Ended, folder: str, runner: str) -> list[Case]:
    """The tests of the reports that this run has written; without one, what the build has said instead."""
    root, cwd = ended.place.root, ended.targets[0].root
    by_class = {target.selector: target for target in ended.targets}

    def owner(group: str, _file: str) -> str:
        result = by_class.get(group.partition("$")[0])
        return result.id if result is not None else ""

    context = Context(root, cwd, owner)
    result = [
        case
        for file in _fresh_reports(root / cwd, folder, ended.reports)
        for case in junit_cases(file, context)
    ]
    result = [_at_its_frame(case, by_class) for case in result if case.target]
    if not result and not ended.finished.is_ok and ended.finished.code is not None:
        result.append(_build_failure(ended, runner))
    return result


def _fresh_reports(base: Path, folder: str, reports: Path) -> Iterator[Path]:
    """Reports younger than the directory that was made for this run: older ones tell of older runs."""
    try:
        began = reports.stat().st_mtime
        files = sorted(base.glob(f"{folder}/TEST-*.xml"))
    except OSError:
        return
    for file in files:
        # Some file systems keep whole seconds only.
        if file.is_file() and file.stat().st_mtime >= int(began):
            yield file


def _at_its_frame(case: Case, by_class: dict[str, Target]) -> Case:
    """Stacks of the JVM name files without directories: the test's own is known by its class."""
    if not case.is_bad:
        return case
    for match in _FRAME.finditer(case.stack):
        target = by_class.get(match[1].partition("$")[0])
        if target is not None and target.path.endswith(f"/{match[2]}"):
            return replace(case, path=target.path, line=int(match[3]))
    return case


def _build_failure(ended: Ended, runner: str) -> Case:
    said = plain(ended.finished.said)
    match = _COMPILER.search(said)
    path, line = first_place(match[0].replace(":[", ":"), ended.place.root) if match else ("", 0)
    message = match[0].rpartition("] ")[2] if match else _error_line(said.splitlines())
    kind = "BuildFailed" if match else "RunnerFailed"
    message = message or f"{runner} ended with code {ended.finished.code}"
    return Case(runner, "", Status.ERROR, 0.0, message[:500], kind, path, line, shortened(said, _LONGEST))


def _error_line(lines: Sequence[str]) -> str:
    errors = [line for line in lines if line.startswith(("[ERROR]", "FAILURE", "* What went wrong", "e: "))]
    return first_line("\n".join(errors or lines))
