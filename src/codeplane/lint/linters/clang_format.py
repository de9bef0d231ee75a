"""clang-format, where its configuration is."""

import re
from collections.abc import Sequence
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.lint.diagnostic import Finding
from codeplane.lint.evidence import first_of, marked
from codeplane.lint.linter import Formatter, Place, Project, inside, unformatted
from codeplane.lint.linters._reading import short_lines
from codeplane.names.snapshot_tree import Tree
from codeplane.process import Finished
from codeplane.process.command import Command

_DIFFERS: Final = re.compile(
    r"^(.+?):\d+:\d+: (?:warning|error): code should be clang-formatted", re.MULTILINE
)


class _ClangFormat(Formatter):
    name = "clang-format"
    program = "clang-format"
    globs = ("*.{c,h,cc,hh,cpp,hpp,cxx,hxx,c++,h++,inc,inl,ipp,tpp,m,mm,cu,cuh}",)
    install = "pip install clang-format"

    def detect(self, tree: Tree) -> Sequence[Project]:
        return first_of(marked(tree, ".clang-format", "_clang-format"))

    def command(self, place: Place, project: Project, files: Sequence[RepoPath] | None) -> Command:
        names = [inside(project, path) for path in files or ()]
        return self._invocation(place, project, "--dry-run", "--ferror-limit=1", *names)

    def parse(self, finished: Finished) -> Sequence[Finding]:
        paths = dict.fromkeys(_DIFFERS.findall(short_lines(finished.stderr)))
        return [unformatted(path) for path in paths]

    def fixing(self, place: Place, project: Project, path: RepoPath) -> Command | None:
        return self._invocation(place, project, f"--assume-filename={inside(project, path)}")

    def formatting_lines(
        self, place: Place, project: Project, path: RepoPath, data: bytes, lines: tuple[int, int]
    ) -> Command | None:
        options = (f"--assume-filename={inside(project, path)}", f"--lines={lines[0]}:{lines[1]}")
        return self._invocation(place, project, *options)

    def _invocation(self, place: Place, project: Project, *options: str) -> Command:
        # Without the first option, a file that no configuration is about would get a style nobody chose.
        argv = (str(self.at(place, project)), "--fallback-style=none", *options)
        return Command(argv, place.cwd(project))


LINTER = _ClangFormat()
