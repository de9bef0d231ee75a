"""mypy. What it remembers is kept outside of the tree, so that the next run is quick."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.lint.diagnostic import Finding
from codeplane.lint.evidence import directory, files_named, first_of, ini_at, mentioned, section, toml_at
from codeplane.lint.linter import Linter, Place, Project, inside
from codeplane.lint.linters._reading import Json, json_lines, number, severity_of, word
from codeplane.names.snapshot_tree import Tree
from codeplane.process import Finished
from codeplane.process.command import Command

_NAMES: Final = ("mypy.ini", ".mypy.ini", "pyproject.toml", "setup.cfg")
# Settings that say what a run without files is about.
_ABOUT: Final = ("files", "packages", "modules")
_SAYS: Final = "files"


class _Mypy(Linter):
    name = "mypy"
    program = "mypy"
    globs = ("*.py", "*.pyi")
    is_whole = True
    install = "pip install mypy (in the project's environment)"

    def detect(self, tree: Tree) -> Sequence[Project]:
        return first_of(_configured_projects(tree)) or mentioned(tree, r"(?m)\bid: mypy\s*$|\bmypy\s+[\w./-]")

    def command(self, place: Place, project: Project, files: Sequence[RepoPath] | None) -> Command:
        cache = place.cache_of(self.name, project)
        options = ["--output=json", "--show-error-end", "--no-error-summary", f"--cache-dir={cache}"]
        if place.toolbox.has_own_python(project.root):
            options.append(f"--python-executable={place.toolbox.python(project.root)}")
        every = [] if project.learnt == _SAYS else ["."]
        names = [inside(project, path) for path in files] if files is not None else every
        return Command((str(self.at(place, project)), *options, *names), place.cwd(project))

    def parse(self, finished: Finished) -> Sequence[Finding]:
        return [_parse_finding(one) for one in json_lines(finished.stdout) if "line" in one]


def _configured_projects(tree: Tree) -> Iterator[Project]:
    for path in files_named(tree, *_NAMES):
        is_toml = path.endswith(".toml")
        result = section(toml_at(tree, path), "tool", "mypy") if is_toml else ini_at(tree, path).get("mypy")
        if isinstance(result, Mapping):
            says = _SAYS if any(key in result for key in _ABOUT) else ""
            yield Project(directory(path), f"{path}: tool.mypy" if is_toml else path, says)


def _parse_finding(one: Json) -> Finding:
    # Columns begin at 0, and -1 is one that it does not know.
    column, end = one.get("column"), one.get("end_column")
    return Finding(
        word(one.get("file")),
        number(one.get("line")),
        number(column) + 1 if column != -1 else 0,
        word(one.get("message")),
        word(one.get("code")) or "mypy",
        severity_of(one.get("severity")),
        number(one.get("end_line")),
        number(end) + 1 if isinstance(end, int) and end >= 0 else 0,
    )


LINTER = _Mypy()
