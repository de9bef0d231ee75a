"""Minitest, told about by a plugin of our own."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.names.snapshot_tree import Tree
from codeplane.process.command import Command
from codeplane.testrun.results import Case, Status
from codeplane.testrun.runner import DEFAULT, Ended, Follower, Place, Project
from codeplane.testrun.runners import _lines, _ruby
from codeplane.testrun.runners._places import first_line, first_place
from codeplane.testrun.runners._tree import below, file_targets
from codeplane.testrun.target import Target
from codeplane.testrun.text import plain, shortened

_LONGEST: Final = 6000
_USES: Final = re.compile(r"Minitest::|minitest/|ActiveSupport::TestCase|test_helper")
_LOAD: Final = "require 'minitest/autorun'; ARGV.each { |file| require File.expand_path(file) }; ARGV.clear"


@dataclass(frozen=True)
class Minitest:
    name: str = "minitest"
    languages: tuple[str, ...] = ("ruby",)

    def detect(self, tree: Tree) -> Sequence[Project]:
        projects_by_path = {project.root: project for project in _ruby.projects(tree, self.name, "minitest")}
        if not projects_by_path and any(_test_files(tree, RepoPath(""))):
            projects_by_path[RepoPath("")] = Project(self.name, RepoPath(""), "default", DEFAULT)
        return [project for root, project in projects_by_path.items() if _test_files(tree, root)]

    def targets(self, tree: Tree, project: Project) -> Sequence[Target]:
        return file_targets(project, "ruby", _test_files(tree, project.root))

    def command(self, place: Place, batch: Sequence[Target]) -> Command:
        root = batch[0].root
        start = _ruby.starting(place, root, "ruby", "Install Ruby.")
        options = ["-Ilib", "-Itest", "-r", str(_lines.REPORTERS / "codeplane_minitest.rb"), "-e", _LOAD]
        files = [target.selector for target in batch]
        return Command((*start, *options, "--", *files), place.root / root, _lines.reporting(place))

    def follow(self, place: Place, batch: Sequence[Target]) -> Follower:
        return _lines.LineFollower(place, _lines.by_file(batch))

    def parse(self, ended: Ended) -> Sequence[Case]:
        lines = _lines.read_lines(ended.reports)
        cases = _lines.cases(lines, _lines.by_file(ended.targets))
        if cases or _lines.has_ended(lines) or ended.finished.code in (None, 0):
            return cases
        said = plain(ended.finished.said)
        path, line = first_place(said, ended.place.root, ended.targets[0].root)
        target = next((one.id for one in ended.targets if one.path == path), "")
        message = first_line(said) or f"ruby ended with code {ended.finished.code}"
        return [
            Case(
                path or "minitest",
                target,
                Status.ERROR,
                0.0,
                message,
                "LoadError",
                path,
                line,
                shortened(said, _LONGEST),
            )
        ]


def _test_files(tree: Tree, root: RepoPath) -> list[RepoPath]:
    """Files named as tests are that use Minitest, or a helper that does."""
    paths = [
        path
        for path in below(tree, root, ".rb")
        if path.endswith("_test.rb")
        or (path.rpartition("/")[2].startswith("test_") and not path.endswith("test_helper.rb"))
    ]
    return [path for path in paths if _USES.search(tree.text(path) or "")]


RUNNER: Final = Minitest()
