"""ruff format, where the repository says that it formats with it."""

import re
from collections.abc import Sequence
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.lint.diagnostic import Finding
from codeplane.lint.evidence import first_of, mentioned, with_section
from codeplane.lint.linter import Formatter, Place, Project, inside, unformatted
from codeplane.lint.linters._reading import short_lines
from codeplane.names.snapshot_tree import Tree
from codeplane.process import Finished
from codeplane.process.command import Command

_DIFFERS: Final = re.compile(r"^--- (.+)$\n^\+\+\+ ", re.MULTILINE)
_BROKEN: Final = re.compile(r"^error: Failed to parse (.+?):(\d+):(\d+): (.+)$", re.MULTILINE)


class _RuffFormat(Formatter):
    name = "ruff-format"
    program = "ruff"
    globs = ("*.py", "*.pyi")
    install = "pip install ruff (in the project's environment)"

    def detect(self, tree: Tree) -> Sequence[Project]:
        projects = first_of(
            with_section(tree, "pyproject.toml", "tool", "ruff", "format"),
            with_section(tree, "ruff.toml", "format"),
            with_section(tree, ".ruff.toml", "format"),
        )
        return projects or mentioned(tree, r"\bruff[\s-]+format\b")

    def command(self, place: Place, project: Project, files: Sequence[RepoPath] | None) -> Command:
        names = [inside(project, path) for path in files or ()] or ["."]
        return self._made(place, project, "--diff", "--", *names)

    def parse(self, finished: Finished) -> Sequence[Finding]:
        differing = [unformatted(path) for path in _DIFFERS.findall(short_lines(finished.stdout))]
        findings = [
            Finding(path, int(line), int(column), message, "syntax-error")
            for path, line, column, message in _BROKEN.findall(short_lines(finished.stderr))
        ]
        return [*differing, *findings]

    def fixing(self, place: Place, project: Project, path: RepoPath) -> Command | None:
        return self._made(place, project, "--quiet", f"--stdin-filename={inside(project, path)}", "-")

    def _made(self, place: Place, project: Project, *options: str) -> Command:
        program = str(self.at(place, project))
        return Command((program, "format", "--no-cache", "--force-exclude", *options), place.cwd(project))


LINTER = _RuffFormat()
