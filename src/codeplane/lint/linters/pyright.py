"""pyright, with the project's own interpreter."""

from collections.abc import Sequence

from codeplane.core.paths import RepoPath
from codeplane.lint.diagnostic import Finding
from codeplane.lint.evidence import first_of, marked, with_section
from codeplane.lint.linter import Linter, Place, Project, inside
from codeplane.lint.linters._reading import Json, items, mapping, number, object_of, severity_of, word
from codeplane.names.snapshot_tree import Tree
from codeplane.process import Finished
from codeplane.process.command import Command


class Pyright(Linter):
    name = "pyright"
    program = "pyright"
    globs = ("*.py", "*.pyi")
    is_whole = True
    install = "npm install --save-dev pyright, or basedpyright"

    def detect(self, tree: Tree) -> Sequence[Project]:
        projects = marked(tree, "pyrightconfig.json")
        return first_of(projects, with_section(tree, "pyproject.toml", "tool", "pyright"))

    def command(self, place: Place, project: Project, files: Sequence[RepoPath] | None) -> Command:
        options = ["--outputjson"]
        if place.toolbox.has_own_python(project.root):
            options.append(f"--pythonpath={place.toolbox.python(project.root)}")
        names = [inside(project, path) for path in files or ()]
        return Command((str(self.at(place, project)), *options, *names), place.cwd(project))

    def parse(self, finished: Finished) -> Sequence[Finding]:
        return [_parse_finding(one) for one in items(object_of(finished.stdout).get("generalDiagnostics"))]


def _parse_finding(one: Json) -> Finding:
    span = mapping(one.get("range"))
    start, end = mapping(span.get("start")), mapping(span.get("end"))
    is_placed = bool(start)
    return Finding(
        word(one.get("file")) or word(one.get("uri")).removeprefix("file://"),
        number(start.get("line")) + is_placed,
        number(start.get("character")) + is_placed,
        word(one.get("message")),
        word(one.get("rule")) or "syntax-error",
        severity_of(one.get("severity")),
        number(end.get("line")) + bool(end),
        number(end.get("character")) + bool(end),
        unit="utf16",
    )


LINTER = Pyright()
