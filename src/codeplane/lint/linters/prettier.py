"""Prettier, on the files that it knows by their names."""

import re
from collections.abc import Sequence
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.lint.diagnostic import Finding
from codeplane.lint.evidence import first_of, marked, mentioned, with_key
from codeplane.lint.linter import Formatter, Place, Project, inside, unformatted
from codeplane.lint.linters._reading import short_lines
from codeplane.names.snapshot_tree import Tree
from codeplane.process import Finished
from codeplane.process.command import Command

_BROKEN: Final = re.compile(r"^\[error\] (\S.*?): (\w*Error: .+?) \((\d+):(\d+)\)$", re.MULTILINE)


class _Prettier(Formatter):
    name = "prettier"
    program = "prettier"
    globs = (
        "*.{js,jsx,mjs,cjs,ts,tsx,mts,cts,json,json5,jsonc,css,scss,less,html,vue,md,mdx,yaml,yml,graphql,hbs}",
    )
    install = "npm install --save-dev prettier"

    def detect(self, tree: Tree) -> Sequence[Project]:
        projects = marked(tree, ".prettierrc", ".prettierrc.*", "prettier.config.*")
        return first_of(projects, with_key(tree, "prettier")) or mentioned(
            tree, r"\bprettier\s+(-\w+\s+)*(--check|--write|-c\b|-w\b|--list-different)|\bid: prettier\b"
        )

    def command(self, place: Place, project: Project, files: Sequence[RepoPath] | None) -> Command:
        names = [inside(project, path) for path in files or ()] or ["."]
        return self._made(place, project, "--list-different", "--ignore-unknown", "--", *names)

    def parse(self, finished: Finished) -> Sequence[Finding]:
        differing = [unformatted(path) for path in short_lines(finished.stdout).splitlines() if path]
        findings = [
            Finding(path, int(line), int(column), message, "syntax-error")
            for path, message, line, column in _BROKEN.findall(short_lines(finished.stderr))
        ]
        return [*differing, *findings]

    def fixing(self, place: Place, project: Project, path: RepoPath) -> Command | None:
        name = f"--stdin-filepath={inside(project, path)}"
        return self._made(place, project, "--log-level=error", name)

    def formatting_lines(
        self, place: Place, project: Project, path: RepoPath, data: bytes, lines: tuple[int, int]
    ) -> Command | None:
        parts = data.split(b"\n")
        start = sum(_units_in(part) + 1 for part in parts[: lines[0] - 1])
        end = start + sum(_units_in(part) + 1 for part in parts[lines[0] - 1 : lines[1]]) - 1
        name = f"--stdin-filepath={inside(project, path)}"
        places = (f"--range-start={start}", f"--range-end={end}")
        return self._made(place, project, "--log-level=error", *places, name)

    def _made(self, place: Place, project: Project, *options: str) -> Command:
        return Command((str(self.at(place, project)), *options), place.cwd(project))


def _units_in(data: bytes) -> int:
    """Its length as Prettier counts it: a mark of the byte order and a carriage return are one each."""
    return len(data.decode("utf-8", "replace").encode("utf-16-le")) // 2


LINTER = _Prettier()
