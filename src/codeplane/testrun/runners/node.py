"""Node's own test runner, told about by a reporter of our own."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from posixpath import basename, dirname
from typing import Final

from codeplane.core.documents import json_object
from codeplane.core.errors import ProgramMissing, TestRunnerNotFound
from codeplane.core.paths import RepoPath
from codeplane.names.snapshot_tree import Tree
from codeplane.process.command import Command
from codeplane.testrun.results import Case, Status
from codeplane.testrun.runner import HIGH, MEDIUM, Ended, Follower, Place, Project, Traits
from codeplane.testrun.runners import _lines
from codeplane.testrun.target import Target, kind_of
from codeplane.testrun.text import what_was_said

# It runs its files in processes of their own, as many as there are processors.
_TRAITS: Final = Traits(is_parallel=False)
_FILE: Final = re.compile(
    r"(?:^|/)(?:[^/]+[._-]test|test|test-[^/]+)\.[cm]?[jt]s$|(?:^|/)tests?/.*\.[cm]?[jt]s$"
)
_USES: Final = re.compile(r"""(?:from\s*|require\(\s*|import\s*)["']node:test["']""")
_COMMAND: Final = re.compile(r"\bnode\b[^&|;]*--test\b")


@dataclass(frozen=True)
class Node:
    name: str = "node"
    languages: tuple[str, ...] = ("javascript", "typescript")
    traits: Traits = _TRAITS

    def detect(self, tree: Tree) -> Sequence[Project]:
        files = self._test_files(tree)
        projects_by_path: dict[RepoPath, Project] = {}
        for path in tree.paths():
            is_package = basename(path) == "package.json" and "node_modules" not in path.split("/")
            if is_package and _COMMAND.search(_test_script(tree.text(path))):
                root = RepoPath(dirname(path))
                projects_by_path[root] = Project(self.name, root, f"{path}: node --test", HIGH)
        rest = [path for path in files if not any(_is_below(path, root) for root in projects_by_path)]
        if rest:
            projects_by_path.setdefault(
                RepoPath(""), Project(self.name, RepoPath(""), "imports of node:test", MEDIUM)
            )
        return list(projects_by_path.values())

    def targets(self, tree: Tree, project: Project) -> Sequence[Target]:
        prefix = f"{project.root}/" if project.root else ""
        return [
            Target(
                path,
                self.name,
                _language_of(path),
                path,
                project.root,
                kind_of(path),
                selector=path[len(prefix) :],
            )
            for path in self._test_files(tree)
            if path.startswith(prefix)
        ]

    def _test_files(self, tree: Tree) -> list[RepoPath]:
        paths = [
            path for path in tree.paths() if _FILE.search(path) and "node_modules" not in path.split("/")
        ]
        return [path for path in paths if _USES.search(tree.text(path) or "")]

    def command(self, place: Place, batch: Sequence[Target]) -> Command:
        root = batch[0].root
        try:
            node = place.toolbox.find("node", root)
        except ProgramMissing as error:
            text = "Node is not installed; its own tests need version 20 or later."
            raise TestRunnerNotFound(text, hints=error.hints, runner=self.name) from error
        reporter = f"--test-reporter={_lines.REPORTERS / 'codeplane_node.mjs'}"
        selectors = [f"./{target.selector}" for target in batch]
        return Command(
            (str(node), "--test", reporter, *selectors), place.root / root, _lines.reporting(place)
        )

    def follow(self, place: Place, batch: Sequence[Target]) -> Follower:
        return _lines.LineFollower(place, _lines.by_file(batch), batch[0].root)

    def parse(self, ended: Ended) -> Sequence[Case]:
        lines = _lines.read_lines(ended.reports)
        cases = _lines.cases(lines, _lines.by_file(ended.targets), ended.targets[0].root)
        if lines or ended.finished.code in (None, 0) or ended.finished.code < 0:
            return cases
        said = what_was_said(ended.finished)
        message = next((line for line in said.splitlines() if line.strip()), "")
        return [Case("node", "", Status.ERROR, message=message, kind="RunnerFailed", stack=said)]


def _is_below(path: str, root: str) -> bool:
    return not root or path.startswith(f"{root}/")


def _language_of(path: str) -> str:
    return "typescript" if path.endswith("ts") else "javascript"


def _test_script(text: str | None) -> str:
    scripts = json_object(text).get("scripts")
    return str(scripts.get("test", "")) if isinstance(scripts, dict) else ""


RUNNER: Final = Node()
