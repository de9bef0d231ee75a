"""vitest, by the report that it writes as JSON."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from codeplane.core.documents import json_object
from codeplane.core.paths import RepoPath
from codeplane.names.snapshot_tree import Tree
from codeplane.process.command import Command
from codeplane.testrun.results import Case, Status
from codeplane.testrun.runner import Ended, Place, Project
from codeplane.testrun.runners import _coverage, _javascript
from codeplane.testrun.runners._javascript_config import accepts_vitest
from codeplane.testrun.runners._places import first_place
from codeplane.testrun.runners._tree import program
from codeplane.testrun.target import Target
from codeplane.testrun.text import plain, shortened

_ENDINGS: Final = ("js", "ts", "mjs", "cjs", "mts", "cts")
_CONFIGS: Final = tuple(f"vitest.config.{ending}" for ending in _ENDINGS)
_SHARED_CONFIGS: Final = tuple(
    f"vite.config.{ending}" for ending in _ENDINGS
)  # where there is none of its own
_PROVIDERS: Final = ("coverage-v8", "coverage-istanbul")
_REPORT: Final = "vitest.json"
_UNHANDLED: Final = " Unhandled Errors "
_ERROR: Final = re.compile(r"^\s*([A-Za-z_]*(?:Error|Exception)): (.*)$", re.MULTILINE)
_END: Final = re.compile(r"\n⎯{9,}|\n *(?:RUN +v|Test Files )")
_LONGEST: Final = 6000
_TYPES: Final = re.compile(r"\.(?:test|spec)-d\.[cm]?[jt]sx?$")  # tests that are only type-checked
_CHECKS_TYPES: Final = re.compile(r"\bvitest\b[^&|;]*\s--typecheck(?:\.enabled)?(?:=true)?(?![\w.=-])")


@dataclass(frozen=True)
class Vitest:
    name: str = "vitest"
    languages: tuple[str, ...] = _javascript.LANGUAGES

    def detect(self, tree: Tree) -> Sequence[Project]:
        return _javascript.projects(tree, self.name, _CONFIGS, is_default=False)

    def targets(self, tree: Tree, project: Project) -> Sequence[Target]:
        has_types = _checks_types(tree, project.root)
        accepts = accepts_vitest(tree, project.root, (*_CONFIGS, *_SHARED_CONFIGS))
        return _javascript.targets(tree, project, accepts, _TYPES if has_types else None)

    def narrowed(self, target: Target, tests: Sequence[str]) -> Target:
        return _javascript.narrowed(target, tests)

    def command(self, place: Place, batch: Sequence[Target]) -> Command:
        root = batch[0].root
        vitest = program(place, "vitest", root, "npm install --save-dev vitest")
        options = ["run", *self.reporting(place)[0], "--passWithNoTests"]
        if any(_TYPES.search(target.path) for target in batch):
            options.append("--typecheck")
        if place.coverage and _has_coverage(place, root):
            options += ["--coverage.enabled", "--coverage.reporter=json"]
            options.append(f"--coverage.reportsDirectory={place.reports}/vitest")
        # Names are looked for in paths: only a whole one is that of one file.
        files = [str(place.root / target.path) for target in batch]
        return Command((vitest, *options, *_javascript.name_pattern(batch), *files), place.root / root)

    def reporting(self, place: Place) -> tuple[Sequence[str], Mapping[str, str]]:
        # Errors outside of tests are in no report: only what is printed for people has them.
        return ["--reporter=json", "--reporter=default", f"--outputFile.json={place.reports / _REPORT}"], {}

    def parse(self, ended: Ended) -> Sequence[Case]:
        _coverage.from_istanbul(ended.reports / "vitest" / _javascript.COVERAGE, ended.reports)
        return [*_javascript.cases(ended, _REPORT, self.name), *_unhandled_errors(ended)]


def _unhandled_errors(ended: Ended) -> list[Case]:
    """What makes a run fail although its tests pass: errors after a test, types that are wrong in sources."""
    _, marker, said = plain(ended.finished.said).partition(_UNHANDLED)
    if ended.finished.is_ok or not marker:
        return []
    match = _ERROR.search(said)
    kind, message = (match[1], match[2]) if match else ("", "errors outside of the tests")
    path, line = first_place(said, ended.place.root, ended.targets[0].root)
    stack = shortened(_END.split(said[match.start() :] if match else said)[0], _LONGEST)
    return [Case("vitest", "", Status.ERROR, 0.0, message, kind, path, line, stack)]


def _checks_types(tree: Tree, root: RepoPath) -> bool:
    """Whether a script for tests has vitest check types, which it does not do by itself."""
    package = json_object(tree.text(RepoPath(f"{root}/package.json" if root else "package.json")))
    scripts = package.get("scripts")
    return isinstance(scripts, dict) and any(
        name.startswith("test") and _CHECKS_TYPES.search(str(script)) for name, script in scripts.items()
    )


def _has_coverage(place: Place, root: RepoPath) -> bool:
    """Without a package for it, vitest would run nothing at all."""
    homes = (place.root / root / "node_modules", place.root / "node_modules")
    return any((home / "@vitest" / name).is_dir() for home in homes for name in _PROVIDERS)


RUNNER: Final = Vitest()
