"""jest, by the report that it writes as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from codeplane.names.snapshot_tree import Tree
from codeplane.process.command import Command
from codeplane.testrun.results import Case
from codeplane.testrun.runner import Ended, Place, Project
from codeplane.testrun.runners import _coverage, _javascript
from codeplane.testrun.runners._javascript_config import accepts_jest
from codeplane.testrun.runners._tree import program
from codeplane.testrun.target import Target

_CONFIGS: Final = tuple(f"jest.config.{ending}" for ending in ("js", "ts", "mjs", "cjs", "json"))
_REPORT: Final = "jest.json"


@dataclass(frozen=True)
class Jest:
    name: str = "jest"
    languages: tuple[str, ...] = _javascript.LANGUAGES

    def detect(self, tree: Tree) -> Sequence[Project]:
        return _javascript.projects(tree, self.name, _CONFIGS, is_default=True)

    def targets(self, tree: Tree, project: Project) -> Sequence[Target]:
        return _javascript.targets(tree, project, accepts_jest(tree, project.root, _CONFIGS))

    def narrowed(self, target: Target, tests: Sequence[str]) -> Target:
        return _javascript.narrowed(target, tests)

    def command(self, place: Place, batch: Sequence[Target]) -> Command:
        root = batch[0].root
        jest = program(place, "jest", root, "npm install --save-dev jest")
        # Batches are the workers here; more of them inside of each would only get in each other's way.
        options = ["--ci", "--runInBand", "--silent", "--testLocationInResults", "--passWithNoTests"]
        options += [*self.reporting(place)[0], "--runTestsByPath"]
        files = [f"./{target.selector}" for target in batch]
        return Command((jest, *options, *_javascript.name_pattern(batch), *files), place.root / root)

    def reporting(self, place: Place) -> tuple[Sequence[str], Mapping[str, str]]:
        options = ["--json", f"--outputFile={place.reports / _REPORT}"]
        if place.coverage:
            options += ["--coverage", "--coverageReporters=json", "--coverageThreshold={}"]
            options.append(f"--coverageDirectory={place.reports}")
        return options, {}

    def parse(self, ended: Ended) -> Sequence[Case]:
        _coverage.from_istanbul(ended.reports / _javascript.COVERAGE, ended.reports)
        return _javascript.cases(ended, _REPORT, self.name)


RUNNER: Final = Jest()
