"""cargo test, by what libtest prints."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from codeplane.core.documents import toml_table
from codeplane.core.paths import RepoPath
from codeplane.names.snapshot_tree import Tree
from codeplane.process.command import Command
from codeplane.testrun.results import Case, Status
from codeplane.testrun.runner import HIGH, IN_TURN, Ended, Place, Project, Traits
from codeplane.testrun.runners._places import first_line, relative
from codeplane.testrun.runners._tree import below, common, directory, inside, named, nearest, program
from codeplane.testrun.target import Target, kind_of
from codeplane.testrun.text import plain, shortened

_LONGEST: Final = 6000
_LIBRARY: Final = "--lib"
_PROGRAMS: Final = "--bins"
_STATUSES: Final = {"ok": Status.PASSED, "FAILED": Status.FAILED, "ignored": Status.SKIPPED}
_RUNNING: Final = re.compile(r"^\s+Running (?:unittests )?(\S+) \(", re.MULTILINE)
_BEGIN: Final = re.compile(r"^running \d+ tests?$", re.MULTILINE)
_TEST: Final = re.compile(r"^test (\S+)(?: - should panic)? \.\.\. (ok|FAILED|ignored)\b", re.MULTILINE)
_DETAILS: Final = re.compile(
    r"^---- (\S+) stdout ----\n(.*?)(?=^---- |^failures:$|\Z)", re.MULTILINE | re.DOTALL
)
_PANIC: Final = re.compile(r"panicked at (?:'(.*?)', )?(\S+?):(\d+):\d+:?\n?(.*)")
_COMPILER: Final = re.compile(r"^error(?:\[E\d+\])?: (.*)\n\s*--> (\S+?):(\d+):\d+", re.MULTILINE)
_HAS_TESTS: Final = re.compile(r"#\[(?:\w+::)*test(?:\]|\()|#\[cfg\(.*\btest\b")


@dataclass(frozen=True)
class Cargo:
    name: str = "cargo"
    languages: tuple[str, ...] = ("rust",)
    # Cargo locks its directory of built things: a second process would only wait.
    traits: Traits = IN_TURN

    def detect(self, tree: Tree) -> Sequence[Project]:
        """Packages; a manifest of a workspace alone has no tests of its own."""
        return [
            Project(self.name, directory(path), path, HIGH)
            for path in named(tree, "Cargo.toml")
            if "package" in toml_table(tree.text(path))
        ]

    def targets(self, tree: Tree, project: Project) -> Sequence[Target]:
        """Each program that cargo builds for tests: those of `tests`, the library's and the binaries' own."""
        roots = {directory(path) for path in named(tree, "Cargo.toml")}
        files = [path for path in below(tree, project.root, ".rs") if nearest(path, roots) == project.root]
        has_library = _has_library(tree, project.root, files)
        matches: dict[str, list[RepoPath]] = {}
        for path in files:
            selector = _selector_of(inside(path, project.root))
            if selector == _LIBRARY and not has_library:
                selector = _PROGRAMS
            if selector and (selector.startswith("--test") or _HAS_TESTS.search(tree.text(path) or "")):
                matches.setdefault(selector, []).append(path)
        targets = [self._make_target(project, selector, paths) for selector, paths in matches.items()]
        return sorted(targets, key=lambda one: one.id)

    def _make_target(self, project: Project, selector: str, paths: Sequence[RepoPath]) -> Target:
        file = RepoPath(_file_of(selector, inside(paths[0], project.root), project.root))
        kind = kind_of(file)
        if selector.startswith("--test") and kind == "unit":
            kind = "integration"
        files = frozenset(paths)
        return Target(file, self.name, "rust", file, project.root, kind, selector=selector, files=files)

    def narrowed(self, target: Target, tests: Sequence[str]) -> Target:
        return replace(target, only=target.names(tests))

    def command(self, place: Place, batch: Sequence[Target]) -> Command:
        root = batch[0].root
        cargo = program(place, "cargo", root, "Install Rust: https://rustup.rs")
        which = [word for target in batch for word in target.selector.split(" ")]
        if only := common(batch):
            which += ["--", "--exact", *only]
        return Command((cargo, "test", "--no-fail-fast", "--color=never", *which), place.root / root)

    def parse(self, ended: Ended) -> Sequence[Case]:
        cases = list(_parse_cases(ended))
        if not cases and not ended.finished.is_ok and ended.finished.code is not None:
            cases.append(_build_failure(ended))
        return cases


def _has_library(tree: Tree, root: RepoPath, files: Sequence[RepoPath]) -> bool:
    manifest = toml_table(tree.text(RepoPath(f"{root}/Cargo.toml" if root else "Cargo.toml")))
    return "lib" in manifest or any(inside(path, root) == "src/lib.rs" for path in files)


def _selector_of(place: str) -> str:
    """What selects the program that a source file is built into; "" where that is not plain."""
    parts = place.removesuffix(".rs").split("/")
    match parts:
        case ["tests", name] | ["tests", name, "main"]:
            return f"--test {name}"
        case ["src", "main"]:
            return _PROGRAMS
        case ["src", "bin", *_]:
            return _PROGRAMS
        case ["src", *_]:
            return _LIBRARY
    return ""


def _file_of(selector: str, place: str, root: RepoPath) -> str:
    name = {_LIBRARY: "src/lib.rs", _PROGRAMS: "src/main.rs"}.get(selector, place)
    return f"{root}/{name}" if root else name


def _parse_cases(ended: Ended) -> Iterator[Case]:
    """Cargo names each program on one pipe, and the program tells of its tests on the other, in one order."""
    out = plain(ended.finished.stdout.decode("utf-8", "replace"))
    err = plain(ended.finished.stderr.decode("utf-8", "replace"))
    programs = [match[1] for match in _RUNNING.finditer(err)]
    starts = [match.start() for match in _BEGIN.finditer(out)]
    for number, start in enumerate(starts):
        part = out[start : starts[number + 1] if number + 1 < len(starts) else len(out)]
        program = programs[number] if number < len(programs) else ""
        details = {match[1]: match[2].strip() for match in _DETAILS.finditer(part)}
        for match in _TEST.finditer(part):
            yield _make_case(match[1], _STATUSES[match[2]], program, details, ended)


def _make_case(name: str, status: Status, program: str, details: Mapping[str, str], ended: Ended) -> Case:
    root, cwd = ended.place.root, ended.targets[0].root
    target = _owner_of(program, ended.targets)
    full = f"{f'{cwd}/' if cwd else ''}{program}::{name}" if program else name
    if status is not Status.FAILED:
        return Case(full, target, status)
    said = details.get(name, "")
    path, line, message = _parse_panic(said, root, cwd)
    kind = "panic" if path else ""
    return Case(
        full, target, status, 0.0, message or first_line(said), kind, path, line, shortened(said, _LONGEST)
    )


def _owner_of(program: str, targets: Sequence[Target]) -> str:
    selector = _selector_of(program)
    return next((one.id for one in targets if one.selector == selector), "")


def _parse_panic(said: str, root: Path, cwd: RepoPath) -> tuple[str, int, str]:
    """Paths are relative to the workspace, which may be above the package."""
    match = _PANIC.search(said)
    if match is None:
        return "", 0, ""
    return (*_locate_path(match[2], int(match[3]), root, cwd), (match[1] or match[4] or "").strip())


def _locate_path(named: str, line: int, root: Path, cwd: RepoPath) -> tuple[str, int]:
    parts = cwd.split("/") if cwd else []
    for count in range(len(parts), -1, -1):
        path = relative(named, root, RepoPath("/".join(parts[:count])))
        if path and (root / path).is_file():
            return path, line
    return "", 0


def _build_failure(ended: Ended) -> Case:
    said = plain(ended.finished.stderr.decode("utf-8", "replace"))
    match = _COMPILER.search(said)
    path, line = (
        _locate_path(match[2], int(match[3]), ended.place.root, ended.targets[0].root) if match else ("", 0)
    )
    message = match[1] if match else first_line(said) or f"cargo ended with code {ended.finished.code}"
    kind = "BuildFailed" if match else "RunnerFailed"
    return Case("cargo test", "", Status.ERROR, 0.0, message, kind, path, line, shortened(said, _LONGEST))


RUNNER: Final = Cargo()
