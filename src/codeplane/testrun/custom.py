"""Runners that a project's settings describe: a command for each file.

What a command of a runner that is known here prints is read as that runner's; of others the exit code is the
result.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from codeplane.config.settings import CustomRunner
from codeplane.core.errors import ProgramMissing, TestRunnerNotFound
from codeplane.core.globs import Globs
from codeplane.core.paths import RepoPath
from codeplane.names.snapshot_tree import Tree
from codeplane.process.command import Command
from codeplane.testrun.results import Case, Status
from codeplane.testrun.runner import CONFIGURED, Ended, Place, Project, Reporting, Runner, Traits
from codeplane.testrun.target import Target, kind_of
from codeplane.testrun.text import what_was_said

_RUNNER_FAILED: Final = "RunnerFailed"
_PATH: Final = "{path}"
_TOP: Final = RepoPath("")


@dataclass(frozen=True)
class Custom:
    """One entry of `tests.custom`."""

    settings: CustomRunner
    name: str
    base: Runner | None = None  # the runner that it names, where that is a known one
    languages: tuple[str, ...] = ()
    traits: Traits = field(default_factory=lambda: Traits(is_single=True))

    def detect(self, tree: Tree) -> Sequence[Project]:
        return [
            Project(self.name, target.root, "config", CONFIGURED) for target in self._custom_targets(tree)[:1]
        ]

    def targets(self, tree: Tree, project: Project) -> Sequence[Target]:
        return self._custom_targets(tree) if project.runner == self.name else []

    def _custom_targets(self, tree: Tree) -> list[Target]:
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
            path = place.toolbox.find(program)
        except ProgramMissing as error:
            text = f"The test runner {self.name} needs {program}, which is not installed."
            raise TestRunnerNotFound(text, hints=error.hints, runner=self.name) from error
        if not isinstance(self.base, Reporting):
            return Command((str(path), *arguments), place.root)
        more, env = self.base.reporting(place)
        return Command((str(path), *arguments, *more), place.root, env)

    def parse(self, ended: Ended) -> Sequence[Case]:
        [target] = ended.targets
        code, said = ended.finished.code, what_was_said(ended.finished)
        if code is None or code < 0:
            return []
        reports = self.base.parse(ended) if self.base is not None else ()
        cases = [replace(case, target=target.id) for case in reports if case.kind != _RUNNER_FAILED]
        if cases and (code == 0 or any(case.is_bad for case in cases)):
            return cases
        status = Status.PASSED if code == 0 else Status.FAILED
        message = "" if code == 0 else f"{self.settings.cmd[0]} ended with code {code}"
        return [*cases, Case(target.id, target.id, status, message=message, path=target.path, output=said)]
