"""go test, by the events that it prints."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from codeplane.core.documents import Malformed, decode_json
from codeplane.core.paths import RepoPath
from codeplane.names.snapshot_tree import Tree
from codeplane.process.command import Command
from codeplane.testrun.results import Case, Status
from codeplane.testrun.runner import BUILDING, HIGH, Ended, Place, Project, Traits
from codeplane.testrun.runners._coverage import from_go
from codeplane.testrun.runners._places import first_line, first_place
from codeplane.testrun.runners._tree import below, common, directory, inside, named, nearest, program
from codeplane.testrun.target import Target, kind_of
from codeplane.testrun.text import plain, shortened

_LONGEST: Final = 6000
_STATUSES: Final = {"pass": Status.PASSED, "fail": Status.FAILED, "skip": Status.SKIPPED}
_LOGGED: Final = re.compile(r"^\s+([\w.-]+_test\.go|[\w.-]+\.go):(\d+): ?(.*)", re.MULTILINE)
_PANIC: Final = re.compile(r"^panic: (.*)", re.MULTILINE)
_FRAME: Final = re.compile(r"^\s+(/\S+\.go):(\d+)", re.MULTILINE)
_COMPILER: Final = re.compile(r"^(?:vet: )?(\S+\.go):(\d+)(?::\d+)?: (.*)", re.MULTILINE)
# Before Go 1.24 a package that cannot be built has no event.
_NOT_BUILT: Final = re.compile(r"^FAIL\s+(\S+) \[(?:build|setup) failed\]", re.MULTILINE)
_PROFILE: Final = "cover.out"
_NO_END: Final = "It was running when its process ended or was ended."
_FETCHING: Final = re.compile(r"^go: (?:downloading|finding|extracting) .*\n", re.MULTILINE)
_FRAMING: Final = ("=== RUN", "=== PAUSE", "=== CONT", "=== NAME", "--- PASS", "--- FAIL", "--- SKIP")


@dataclass(frozen=True)
class Go:
    name: str = "go"
    languages: tuple[str, ...] = ("go",)
    traits: Traits = BUILDING

    def detect(self, tree: Tree) -> Sequence[Project]:
        return [Project(self.name, directory(path), path, HIGH) for path in named(tree, "go.mod")]

    def targets(self, tree: Tree, project: Project) -> Sequence[Target]:
        """Packages: Go builds and runs the tests of a directory together."""
        modules = {directory(path) for path in named(tree, "go.mod")}
        packages: dict[RepoPath, set[RepoPath]] = {}
        for path in below(tree, project.root, "_test.go"):
            is_seen = not path.rpartition("/")[2].startswith(("_", "."))
            if is_seen and nearest(path, modules) == project.root:
                packages.setdefault(directory(path), set()).add(path)
        return [
            self._make_target(package, project.root, frozenset(packages[package]))
            for package in sorted(packages)
            if "testdata" not in package.split("/")
        ]

    def _make_target(self, package: RepoPath, root: RepoPath, files: frozenset[RepoPath]) -> Target:
        selector = f"./{inside(package, root)}" if package != root else "."
        kind = kind_of(package)
        return Target(package or ".", self.name, "go", package, root, kind, selector=selector, files=files)

    def narrowed(self, target: Target, tests: Sequence[str]) -> Target:
        # A part of a test is run with the whole test.
        names = [name.partition("/")[0] for name in target.names(tests)]
        return replace(target, only=tuple(dict.fromkeys(names)))

    def command(self, place: Place, batch: Sequence[Target]) -> Command:
        root = batch[0].root
        go = program(place, "go", root, "Install Go: https://go.dev/doc/install")
        run_option = [f"-run=^({'|'.join(map(re.escape, only))})$"] if (only := common(batch)) else []
        selectors = (target.selector for target in batch)
        coverage = [f"-coverprofile={place.reports / _PROFILE}", "-coverpkg=./..."] if place.coverage else []
        return Command((go, "test", "-json", *coverage, *run_option, *selectors), place.root / root)

    def reporting(self, place: Place) -> tuple[Sequence[str], Mapping[str, str]]:  # noqa: ARG002 - Reporting
        return (), {"GOFLAGS": "-json"}

    def parse(self, ended: Ended) -> Sequence[Case]:
        module = ended.place.root / ended.targets[0].root
        from_go(ended.reports / _PROFILE, module, ended.reports)
        report = _Report(ended)
        cases = list(report.cases())
        if not cases and not ended.finished.is_ok and ended.finished.code is not None:
            said = _FETCHING.sub("", plain(ended.finished.said))
            message = first_line(said) or f"go test ended with code {ended.finished.code}"
            cases.append(
                Case(
                    "go test", "", Status.ERROR, 0.0, message, "RunnerFailed", stack=shortened(said, _LONGEST)
                )
            )
        return cases


class _Report:
    """The events of one run, by package and test."""

    def __init__(self, ended: Ended) -> None:
        self._root, self._targets = ended.place.root, ended.targets
        self._said: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._ends: dict[tuple[str, str], tuple[str, float]] = {}
        self._begun: dict[tuple[str, str], None] = {}
        self._loose: list[str] = [ended.finished.stderr.decode("utf-8", "replace")]
        for line in ended.finished.stdout.decode("utf-8", "replace").splitlines():
            self._take_line(line)

    def _take_line(self, line: str) -> None:
        event = _parse_event(line)
        if event is None:
            self._loose.append(line)
            return
        key = (str(event.get("Package") or event.get("ImportPath") or ""), str(event.get("Test") or ""))
        match event.get("Action"):
            case "run":
                self._begun[key] = None
            case "output" | "build-output":
                self._said[key].append(str(event.get("Output", "")))
            case "pass" | "fail" | "skip" as action:
                took = event.get("Elapsed")
                self._ends[key] = (action, float(took) if isinstance(took, int | float) else 0.0)

    def cases(self) -> Iterator[Case]:
        for (package, test), (action, seconds) in self._ends.items():
            if test and not self._is_container(package, test, action):
                yield self._make_case(package, test, _STATUSES[action], seconds)
        for package, test in self._begun:
            if test and (package, test) not in self._ends:
                yield self._make_case(package, test, Status.ERROR, 0.0)
        packages = {
            package for (package, test), (action, _) in self._ends.items() if not test and action == "fail"
        }
        packages |= {match[1] for line in self._loose for match in _NOT_BUILT.finditer(line)}
        for package in sorted(packages):
            if not any(p == package and t for p, t in (*self._ends, *self._begun)):
                yield self._build_failure(package)

    def _is_container(self, package: str, test: str, action: str) -> bool:
        """Whether a test has failed by its parts alone, of which each is told."""
        parts = (
            end[0]
            for (other, name), end in self._ends.items()
            if other == package and name.startswith(f"{test}/")
        )
        return action == "fail" and "fail" in parts and not self._own_output(package, test)

    def _own_output(self, package: str, test: str) -> str:
        """What a test has said itself."""
        lines = self._said[package, test]
        return plain("".join(line for line in lines if not line.strip().startswith(_FRAMING)))

    def _make_case(self, package: str, test: str, status: Status, seconds: float) -> Case:
        target = self._target_of(package)
        own = target.id if target is not None else ""
        name = f"{own or package}::{test}"
        if status not in (Status.FAILED, Status.ERROR):
            return Case(name, own, status, seconds)
        said = self._own_output(package, test)
        if panic := _PANIC.search(said) or (
            status is Status.ERROR and _PANIC.search(self._of_package(package))
        ):
            text = said if _PANIC.search(said) else self._of_package(package)
            path, line = self._own_frame(text)
            return Case(
                name, own, Status.ERROR, seconds, panic[1], "panic", path, line, shortened(text, _LONGEST)
            )
        path, line, message = self._parse_log_line(said, target)
        if status is Status.ERROR:  # it was begun, and nothing tells of its end
            said = shortened(said, _LONGEST)
            return Case(name, own, status, seconds, _NO_END, "NotEnded", path, line, said)
        return Case(
            name, own, status, seconds, message or first_line(said), "", path, line, shortened(said, _LONGEST)
        )

    def _of_package(self, package: str) -> str:
        return plain("".join(self._said[package, ""]))

    def _parse_log_line(self, said: str, target: Target | None) -> tuple[str, int, str]:
        """A line of `t.Error` and its like: its file is in the directory of the package."""
        match = _LOGGED.search(said)
        if match is None:
            return "", 0, ""
        folder = target.path if target is not None else ""
        return (f"{folder}/{match[1]}" if folder else match[1]), int(match[2]), match[3].strip()

    def _own_frame(self, text: str) -> tuple[str, int]:
        for match in _FRAME.finditer(text):
            if Path(match[1]).is_relative_to(self._root):
                return Path(match[1]).relative_to(self._root).as_posix(), int(match[2])
        return "", 0

    def _build_failure(self, package: str) -> Case:
        """A package whose tests could not be built, or that ended before any of them."""
        target = self._target_of(package)
        own = "".join(
            text for (name, _), lines in self._said.items() if _is_of(name, package) for text in lines
        )
        said = plain("\n".join([own, *self._loose]).strip())
        match = _COMPILER.search(said)
        path, line = first_place(match[0], self._root, target.root) if match and target else ("", 0)
        message = match[3] if match else first_line(said)
        kind = "BuildFailed" if match else "Failed"
        name = target.id if target is not None else package
        return Case(name, name, Status.ERROR, 0.0, message, kind, path, line, shortened(said, _LONGEST))

    def _target_of(self, package: str) -> Target | None:
        """A package is named by its module and its directory; the module's own has no directory."""
        package = package.partition(" ")[0]
        ends = [one for one in self._targets if one.selector != "." and package.endswith(one.selector[1:])]
        if ends:
            return max(ends, key=lambda one: len(one.selector))
        return next((one for one in self._targets if one.selector == "."), None)


def _is_of(name: str, package: str) -> bool:
    return name.partition(" ")[0].removesuffix(".test") == package


def _parse_event(line: str) -> Mapping[str, Any] | None:
    if not line.startswith("{"):
        return None
    try:
        read = decode_json(line)
    except Malformed:
        return None
    return read if isinstance(read, dict) and "Action" in read else None


RUNNER: Final = Go()
