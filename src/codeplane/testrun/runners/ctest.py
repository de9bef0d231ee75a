"""CTest, by the report that it writes in the form of JUnit, in a directory that the user has configured."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from codeplane.core.errors import TestRunnerNotFound
from codeplane.core.paths import RepoPath
from codeplane.names.snapshot_tree import Tree
from codeplane.process.command import Command
from codeplane.testrun.results import Case, Status
from codeplane.testrun.runner import MEDIUM, ONE_BY_ONE, Ended, Place, Project, Traits
from codeplane.testrun.runners._junit import Context, junit_cases
from codeplane.testrun.runners._places import first_line, first_place
from codeplane.testrun.runners._tree import below, directory, named, program
from codeplane.testrun.target import Target
from codeplane.testrun.text import plain, shortened

_TESTS: Final = re.compile(r"^\s*(?:enable_testing|include\s*\(\s*CTest)", re.MULTILINE | re.IGNORECASE)
_GENERATOR: Final = re.compile(r"^CMAKE_GENERATOR:INTERNAL=(.+)$", re.MULTILINE)
_BUILDS: Final = (
    "build",
    "out",
    "_build",
    "cmake-build-debug",
    "cmake-build-release",
    "build/debug",
    "build/release",
)
_COMPILER: Final = re.compile(r"^(\S+?):(\d+):\d+: (?:fatal )?error: (.*)", re.MULTILINE)
_SOURCES: Final = (".c", ".cc", ".cpp", ".cxx")
_REPORT: Final = "ctest.xml"
_LARGEST: Final = 1 << 20
_LONGEST: Final = 6000


@dataclass(frozen=True)
class CTest:
    name: str = "ctest"
    languages: tuple[str, ...] = ("c", "cpp")
    traits: Traits = ONE_BY_ONE

    def detect(self, tree: Tree) -> Sequence[Project]:
        return [
            Project(self.name, directory(path), path, MEDIUM)
            for path in named(tree, "CMakeLists.txt")
            if _TESTS.search(tree.text(path) or "")
        ]

    def targets(self, tree: Tree, project: Project) -> Sequence[Target]:
        """The project as a whole: what its tests are is known to the built tree only."""
        name = project.root or "."
        path = RepoPath(f"{project.root}/CMakeLists.txt" if project.root else "CMakeLists.txt")
        files = frozenset(below(tree, project.root, *_SOURCES))
        return [Target(name, self.name, "cpp", path, project.root, selector=".", files=files)]

    def command(self, place: Place, batch: Sequence[Target]) -> Command:
        root = batch[0].root
        ctest = program(place, "ctest", root, "Install CMake 3.21 or later.")
        source = place.root / root
        build, generator = _find_build_directory(source)
        inner = ["--test-command", ctest, "--test-dir", str(build), "--output-on-failure"]
        inner += ["--output-junit", str(place.reports / _REPORT)]
        # What has changed is built first: the tests of an old build would tell of old code.
        options = [
            "--build-and-test",
            str(source),
            str(build),
            "--build-generator",
            generator,
            "--build-noclean",
        ]
        return Command((ctest, *options, *inner), source)

    def parse(self, ended: Ended) -> Sequence[Case]:
        [target] = ended.targets
        context = Context(ended.place.root, target.root, lambda *_: target.id)
        cases = junit_cases(ended.reports / _REPORT, context)
        if not cases and not ended.finished.is_ok and ended.finished.code is not None:
            cases.append(_build_failure(ended))
        return cases


def _find_build_directory(source: Path) -> tuple[Path, str]:
    for name in _BUILDS:
        cache = source / name / "CMakeCache.txt"
        try:
            with cache.open("rb") as stream:
                match = _GENERATOR.search(stream.read(_LARGEST).decode("utf-8", "replace"))
        except OSError:
            continue
        if match:
            return source / name, match[1].strip()
    raise TestRunnerNotFound(
        "The project has not been configured: there is no built tree to test.",
        hints=["cmake -B build", f"or use one of {', '.join(_BUILDS)} as the directory"],
        runner="ctest",
    )


def _build_failure(ended: Ended) -> Case:
    said = plain(ended.finished.said)
    [target] = ended.targets
    match = _COMPILER.search(said)
    path, line = first_place(match[0], ended.place.root, target.root) if match else ("", 0)
    message = match[3] if match else first_line(said) or f"ctest ended with code {ended.finished.code}"
    kind = "BuildFailed" if match else "RunnerFailed"
    return Case(target.id, target.id, Status.ERROR, 0.0, message, kind, path, line, shortened(said, _LONGEST))


RUNNER: Final = CTest()
