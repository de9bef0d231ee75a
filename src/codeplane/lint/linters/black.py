"""black. It leaves out what its configuration excludes even where a file is named."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.lint.diagnostic import Finding
from codeplane.lint.evidence import directory, files_named, mentioned, section, toml_at
from codeplane.lint.linter import Formatter, Place, Project, inside, unformatted
from codeplane.lint.linters._reading import short_lines
from codeplane.names.snapshot_tree import Tree
from codeplane.process import Finished
from codeplane.process.command import Command

_DIFFERS: Final = re.compile(r"^would reformat (.+)$", re.MULTILINE)
_BROKEN: Final = re.compile(
    r"^error: cannot (?:format|parse)(?: for target version [^:]+)?:? (.+?): ?"
    r"(?:Cannot parse[^:]*: )?(\d+):(\d+)(?:: (.*))?$",
    re.MULTILINE,
)


_EXCLUDING: Final = ("exclude", "extend-exclude", "force-exclude")


class _Black(Formatter):
    name = "black"
    program = "black"
    globs = ("*.py", "*.pyi")
    install = "pip install black (in the project's environment)"

    def detect(self, tree: Tree) -> Sequence[Project]:
        return list(_configured_projects(tree)) or mentioned(
            tree, r"(?m)\bid: black(-jupyter)?\s*$|\bblack\s+(--check|--diff|\.(\s|$))"
        )

    def command(self, place: Place, project: Project, files: Sequence[RepoPath] | None) -> Command:
        names = [inside(project, path) for path in files or ()] or ["."]
        return self._made(place, project, "--check", "--", *names)

    def parse(self, finished: Finished) -> Sequence[Finding]:
        said = short_lines(finished.stderr)
        differing = [unformatted(path) for path in _DIFFERS.findall(said)]
        findings = [
            Finding(path, int(line), int(column) + 1, message or "The file cannot be parsed.", "syntax-error")
            for path, line, column, message in _BROKEN.findall(said)
        ]
        return [*differing, *findings]

    def fixing(self, place: Place, project: Project, path: RepoPath) -> Command | None:
        return self._made(place, project, "--quiet", f"--stdin-filename={inside(project, path)}", "-")

    def _made(self, place: Place, project: Project, *options: str) -> Command:
        left_out = (f"--force-exclude={project.learnt}",) if project.learnt else ()
        argv = (str(self.at(place, project)), "--workers=1", *left_out, *options)
        return Command(argv, place.cwd(project))


def _configured_projects(tree: Tree) -> Iterator[Project]:
    for path in files_named(tree, "pyproject.toml"):
        result = section(toml_at(tree, path), "tool", "black")
        if isinstance(result, Mapping):
            excludes = [result[key] for key in _EXCLUDING if isinstance(result.get(key), str)]
            yield Project(directory(path), f"{path}: tool.black", "|".join(f"(?:{one})" for one in excludes))


LINTER = _Black()
