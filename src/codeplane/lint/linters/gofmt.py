"""gofmt, which has no configuration."""

import re
from collections.abc import Sequence
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.lint.diagnostic import Finding
from codeplane.lint.evidence import marked
from codeplane.lint.linter import Formatter, Place, Project, inside, unformatted
from codeplane.lint.linters._reading import short_lines
from codeplane.names.snapshot_tree import Tree
from codeplane.process import Finished
from codeplane.process.command import Command

_BROKEN: Final = re.compile(r"^(.+?):(\d+):(\d+): (.+)$", re.MULTILINE)


class _Gofmt(Formatter):
    name = "gofmt"
    program = "gofmt"
    globs = ("*.go", "!vendor/")
    install = "Install Go."

    def detect(self, tree: Tree) -> Sequence[Project]:
        return marked(tree, "go.mod")

    def command(self, place: Place, project: Project, files: Sequence[RepoPath] | None) -> Command:
        names = [inside(project, path) for path in files or ()] or ["."]
        return Command((str(self.at(place, project)), "-l", *names), place.cwd(project))

    def parse(self, finished: Finished) -> Sequence[Finding]:
        differing = [unformatted(path) for path in short_lines(finished.stdout).splitlines() if path]
        findings = [
            Finding(path, int(line), int(column), message, "syntax-error", unit="bytes")
            for path, line, column, message in _BROKEN.findall(short_lines(finished.stderr))
        ]
        return [*differing, *findings]

    def fixing(self, place: Place, project: Project, path: RepoPath) -> Command | None:
        return Command((str(self.at(place, project)),), place.cwd(project))

    def version(self, place: Place, project: Project) -> Command:
        """It does not tell its own; it comes with Go."""
        return Command((str(place.toolbox.find("go", project.root)), "version"), place.cwd(project))


LINTER = _Gofmt()
