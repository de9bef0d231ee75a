"""vitest, by the report that it writes as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.index.tree import Tree
from codeplane.process.command import Command
from codeplane.testrun.results import Case
from codeplane.testrun.runner import Ended, Place, Project
from codeplane.testrun.runners import _coverage, _javascript
from codeplane.testrun.runners._tree import program
from codeplane.testrun.target import Target

_CONFIGS: Final = tuple(f"vitest.config.{ending}" for ending in ("js", "ts", "mjs", "cjs", "mts", "cts"))
_PROVIDERS: Final = ("coverage-v8", "coverage-istanbul")
_REPORT: Final = "vitest.json"


@dataclass(frozen=True)
class Vitest:
    name: str = "vitest"
    languages: tuple[str, ...] = _javascript.LANGUAGES

    def detect(self, tree: Tree) -> Sequence[Project]:
        return _javascript.projects(tree, self.name, _CONFIGS, is_default=False)

    def targets(self, tree: Tree, project: Project) -> Sequence[Target]:
        return _javascript.targets(tree, project)

    def narrowed(self, target: Target, tests: Sequence[str]) -> Target:
        return _javascript.narrowed(target, tests)

    def command(self, place: Place, batch: Sequence[Target]) -> Command:
        root = batch[0].root
        vitest = program(place, "vitest", root, "npm install --save-dev vitest")
        options = ["run", *self.reporting(place)[0], "--passWithNoTests"]
        if place.coverage and _has_coverage(place, root):
            options += ["--coverage.enabled", "--coverage.reporter=json"]
            options.append(f"--coverage.reportsDirectory={place.reports}/vitest")
        # Names are looked for in paths: only a whole one is that of one file.
        files = [str(place.root / target.path) for target in batch]
        return Command((vitest, *options, *_javascript.name_pattern(batch), *files), place.root / root)

    def reporting(self, place: Place) -> tuple[Sequence[str], Mapping[str, str]]:
        return ["--reporter=json", f"--outputFile={place.reports / _REPORT}"], {}

    def parse(self, ended: Ended) -> Sequence[Case]:
        _coverage.from_istanbul(ended.reports / "vitest" / _javascript.COVERAGE, ended.reports)
        return _javascript.cases(ended, _REPORT, self.name)


def _has_coverage(place: Place, root: RepoPath) -> bool:
    """Without a package for it, vitest would run nothing at all."""
    homes = (place.root / root / "node_modules", place.root / "node_modules")
    return any((home / "@vitest" / name).is_dir() for home in homes for name in _PROVIDERS)


RUNNER: Final = Vitest()
