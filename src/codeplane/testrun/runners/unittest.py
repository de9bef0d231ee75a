"""Python's own unittest, run by a small program of our own that tells of each test."""

import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass, replace
from posixpath import basename
from typing import Final

from codeplane.core.errors import ProgramMissing, TestRunnerNotFound
from codeplane.core.paths import RepoPath
from codeplane.names.snapshot_tree import Tree
from codeplane.process.command import Command
from codeplane.testrun.results import Case, Status
from codeplane.testrun.runner import MEDIUM, Ended, Follower, Place, Project, Traits
from codeplane.testrun.runners import _lines, _python
from codeplane.testrun.target import Target, kind_of
from codeplane.testrun.text import what_was_said

_TRAITS: Final = Traits(last_words=signal.SIGUSR1)
_USES: Final = re.compile(r"^\s*(?:import|from)\b[^\n#]*\b(pytest|unittest)\b", re.MULTILINE)
_FILES: Final = ("test*.py", "*_test.py", "*_tests.py")
_MOST_READ: Final = 200


@dataclass(frozen=True)
class Unittest:
    name: str = "unittest"
    languages: tuple[str, ...] = ("python",)
    traits: Traits = _TRAITS

    def detect(self, tree: Tree) -> Sequence[Project]:
        """Tests that import it, where nothing speaks of pytest."""
        files = _python.python_files(tree, RepoPath(""), _FILES)
        if not files or _speaks_of_pytest(tree):
            return []
        uses = {use for path in files[:_MOST_READ] for use in _USES.findall(tree.text(path) or "")}
        return (
            [Project(self.name, RepoPath(""), "imports of unittest", MEDIUM)] if uses == {"unittest"} else []
        )

    def targets(self, tree: Tree, project: Project) -> Sequence[Target]:
        prefix = f"{project.root}/" if project.root else ""
        return [
            Target(path, self.name, "python", path, project.root, kind_of(path), selector=path[len(prefix) :])
            for path in _python.python_files(tree, project.root, _FILES)
        ]

    def narrowed(self, target: Target, tests: Sequence[str]) -> Target:
        prefix = f"{target.root}/" if target.root else ""
        # A part of a test, told apart by its parameters, is run with the whole test.
        single = dict.fromkeys(test.removeprefix(prefix).partition(" ")[0] for test in tests)
        return replace(target, selector="\n".join(single))

    def command(self, place: Place, batch: Sequence[Target]) -> Command:
        root = batch[0].root
        try:
            python = place.toolbox.python(root)
        except ProgramMissing as error:
            raise TestRunnerNotFound(
                "Python is not installed.", hints=error.hints, runner=self.name
            ) from error
        program = str(_lines.REPORTERS / "codeplane_unittest.py")
        selectors = [one for target in batch for one in target.selector.split("\n")]
        return Command((str(python), program, *selectors), place.root / root, _lines.reporting(place))

    def follow(self, place: Place, batch: Sequence[Target]) -> Follower:
        return _lines.LineFollower(place, _lines.by_file(batch), batch[0].root)

    def parse(self, ended: Ended) -> Sequence[Case]:
        lines = _lines.read_lines(ended.reports)
        cases = _lines.cases(lines, _lines.by_file(ended.targets), ended.targets[0].root)
        if lines or ended.finished.code in (None, 0) or ended.finished.code < 0:
            return cases
        said = what_was_said(ended.finished)
        message = said.rpartition("\n")[2]
        return [Case("unittest", "", Status.ERROR, message=message, kind="RunnerFailed", stack=said)]


def _speaks_of_pytest(tree: Tree) -> bool:
    names = ("pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "noxfile.py", "Pipfile")
    for path in tree.paths():
        name = basename(path)
        if name in ("conftest.py", "pytest.ini"):
            return True
        is_told = name in names or (name.startswith("requirements") and name.endswith((".txt", ".in")))
        if is_told and "pytest" in (tree.text(path) or ""):
            return True
    return False


RUNNER: Final = Unittest()
