"""vitest, by the report that it writes as JSON."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from codeplane.index.tree import Tree
from codeplane.process.command import Command
from codeplane.testrun.results import Case
from codeplane.testrun.runner import Ended, Place, Project
from codeplane.testrun.runners import _javascript
from codeplane.testrun.runners._tree import program
from codeplane.testrun.target import Target

_CONFIGS: Final = tuple(f"vitest.config.{ending}" for ending in ("js", "ts", "mjs", "cjs", "mts", "cts"))
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
        options = ["run", "--reporter=json", f"--outputFile={place.reports / _REPORT}", "--passWithNoTests"]
        # Names are looked for in paths: only a whole one is that of one file.
        files = [str(place.root / target.path) for target in batch]
        return Command((vitest, *options, *_javascript.name_pattern(batch), *files), place.root / root)

    def parse(self, ended: Ended) -> Sequence[Case]:
        return _javascript.cases(ended, _REPORT, self.name)


RUNNER: Final = Vitest()
