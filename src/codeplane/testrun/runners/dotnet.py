"""dotnet test, by the TRX report of its logger."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.xml_text import Element
from codeplane.names.snapshot_tree import Tree
from codeplane.process.command import Command
from codeplane.testrun.results import Case, Status
from codeplane.testrun.runner import HIGH, ONE_BY_ONE, Ended, Place, Project, Traits
from codeplane.testrun.runners._junit import read_xml
from codeplane.testrun.runners._places import first_line, first_place
from codeplane.testrun.runners._tree import below, directory, file_targets, program
from codeplane.testrun.target import Target
from codeplane.testrun.text import plain, shortened

_SOURCES: Final = (".cs", ".fs", ".vb")
_PROJECTS: Final = {".csproj": "csharp", ".fsproj": "fsharp", ".vbproj": "vb"}
_IS_TEST: Final = re.compile(r"Microsoft\.NET\.Test\.Sdk|<IsTestProject>\s*true|MSTest\.Sdk", re.IGNORECASE)
_REPORT: Final = "tests.trx"
_LONGEST: Final = 6000
_STATUSES: Final = {"Passed": Status.PASSED, "Failed": Status.FAILED, "NotExecuted": Status.SKIPPED}
_COMPILER: Final = re.compile(r"(\S+\.(?:cs|fs|vb))\((\d+),\d+\): error \w+: ([^\[\n]*)")
_RAISED: Final = re.compile(r"^([\w.]+(?:Exception|Error))\s*:")


@dataclass(frozen=True)
class Dotnet:
    name: str = "dotnet"
    languages: tuple[str, ...] = ("csharp",)
    traits: Traits = ONE_BY_ONE

    def detect(self, tree: Tree) -> Sequence[Project]:
        projects_by_path: dict[RepoPath, Project] = {}
        for path in _project_files(tree, RepoPath("")):
            projects_by_path.setdefault(directory(path), Project(self.name, directory(path), path, HIGH))
        return list(projects_by_path.values())

    def targets(self, tree: Tree, project: Project) -> Sequence[Target]:
        mine = [path for path in _project_files(tree, project.root) if directory(path) == project.root]
        files = frozenset(below(tree, project.root, *_SOURCES))
        return [replace(target, files=files) for target in file_targets(project, "csharp", mine)]

    def command(self, place: Place, batch: Sequence[Target]) -> Command:
        [target] = batch
        dotnet = program(place, "dotnet", target.root, "Install .NET: https://dotnet.microsoft.com/download")
        options = [
            "--nologo",
            "--logger",
            f"trx;LogFileName={_REPORT}",
            "--results-directory",
            str(place.reports),
        ]
        env = {"DOTNET_CLI_TELEMETRY_OPTOUT": "1", "DOTNET_NOLOGO": "1"}
        return Command((dotnet, "test", target.selector, *options), place.root / target.root, env)

    def parse(self, ended: Ended) -> Sequence[Case]:
        cases = trx_cases(ended.reports / _REPORT, ended.targets[0].id, ended.place.root)
        if not cases and not ended.finished.is_ok and ended.finished.code is not None:
            cases.append(_build_failure(ended))
        return cases


def _project_files(tree: Tree, root: RepoPath) -> Iterator[RepoPath]:
    yield from (path for path in below(tree, root, *_PROJECTS) if _IS_TEST.search(tree.text(path) or ""))


def trx_cases(file: Path, target: str, root: Path) -> list[Case]:
    """The results that a TRX report tells of."""
    document = read_xml(file)
    if document is None:
        return []
    classes = {
        unit.get("id", ""): method.get("className", "").partition(",")[0]
        for unit in document.iter() if _tag_name(unit) == "UnitTest"
        for method in unit.iter() if _tag_name(method) == "TestMethod"
    }  # fmt: skip
    results = (element for element in document.iter() if _tag_name(element) == "UnitTestResult")
    return [_case_of_result(result, classes, target, root) for result in results]


def _case_of_result(result: Element, classes: dict[str, str], target: str, root: Path) -> Case:
    name, group = result.get("testName") or "", classes.get(result.get("testId") or "", "")
    full = name if not group or name.startswith(group) else f"{group}.{name}"
    status = _STATUSES.get(result.get("outcome") or "", Status.ERROR)
    seconds = _parse_seconds(result.get("duration"))
    if status not in (Status.FAILED, Status.ERROR):
        return Case(full, target, status, seconds)
    texts = {_tag_name(part): plain(part.text or "").strip() for part in result.iter()}
    message, stack = texts.get("Message", ""), texts.get("StackTrace", "")
    match = _RAISED.match(message)
    path, line = first_place(stack, root)
    return Case(
        full,
        target,
        status,
        seconds,
        first_line(message),
        match[1].rpartition(".")[2] if match else "",
        path,
        line,
        shortened(f"{message}\n{stack}", _LONGEST),
        shortened(texts.get("StdOut", ""), _LONGEST),
    )


def _tag_name(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _parse_seconds(text: str | None) -> float:
    """A duration such as `00:00:01.2345678`."""
    try:
        hours, minutes, seconds = (text or "0:0:0").split(":")
        return int(hours) * 3600 + int(minutes) * 60 + float(seconds)
    except ValueError:
        return 0.0


def _build_failure(ended: Ended) -> Case:
    said = plain(ended.finished.said)
    match = _COMPILER.search(said)
    path, line = first_place(match[0], ended.place.root, ended.targets[0].root) if match else ("", 0)
    message = (
        match[3].strip() if match else first_line(said) or f"dotnet ended with code {ended.finished.code}"
    )
    kind = "BuildFailed" if match else "RunnerFailed"
    own = ended.targets[0].id
    return Case(own, own, Status.ERROR, 0.0, message, kind, path, line, shortened(said, _LONGEST))


RUNNER: Final = Dotnet()
