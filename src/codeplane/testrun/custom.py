"""Runners that a project's settings describe: a command for each file, and its exit code for a result."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from codeplane.config.settings import CustomRunner
from codeplane.core.errors import ProgramMissing, TestRunnerNotFound
from codeplane.core.globs import Globs
from codeplane.core.paths import RepoPath
from codeplane.index.tree import Tree
from codeplane.process.command import Command
from codeplane.testrun.results import Case, Status
from codeplane.testrun.runner import CONFIGURED, Ended, Place, Project, Traits
from codeplane.testrun.target import Target, kind_of
from codeplane.testrun.text import what_was_said

_PATH: Final = "{path}"
_TOP: Final = RepoPath("")


@dataclass(frozen=True)
class Custom:
    """One entry of `tests.custom`."""

    settings: CustomRunner
    name: str
    languages: tuple[str, ...] = ()
    traits: Traits = field(default_factory=lambda: Traits(is_single=True))

    def detect(self, tree: Tree) -> Sequence[Project]:
        return [Project(self.name, target.root, "config", CONFIGURED) for target in self._targets(tree)[:1]]

    def targets(self, tree: Tree, project: Project) -> Sequence[Target]:
        return self._targets(tree) if project.runner == self.name else []

    def _targets(self, tree: Tree) -> list[Target]:
        globs = Globs([self.settings.pattern])
        limit = self.settings.timeout_sec
        return [
            Target(path, self.name, "", path, _TOP, kind_of(path), selector=path, timeout_sec=limit)
            for path in tree.paths()
            if globs.holds(path)
        ]

    def command(self, place: Place, batch: Sequence[Target]) -> Command:
        [target] = batch
        program, *arguments = (part.replace(_PATH, f"./{target.selector}") for part in self.settings.cmd)
        try:
            found = place.toolbox.find(program)
        except ProgramMissing as error:
            told = f"The test runner {self.name} needs {program}, which is not installed."
            raise TestRunnerNotFound(told, hints=error.hints, runner=self.name) from error
        return Command((str(found), *arguments), place.root)

    def parse(self, ended: Ended) -> Sequence[Case]:
        [target] = ended.targets
        code, said = ended.finished.code, what_was_said(ended.finished)
        if code is None or code < 0:
            return []
        status = Status.PASSED if code == 0 else Status.FAILED
        message = "" if code == 0 else f"{self.settings.cmd[0]} ended with code {code}"
        return [Case(target.id, target.id, status, message=message, path=target.path, output=said)]
