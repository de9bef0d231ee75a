"""go vet, on the packages of the files; nothing is fetched for it."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from codeplane.core.documents import Malformed, decode_json_at
from codeplane.core.paths import RepoPath
from codeplane.lint.diagnostic import Finding
from codeplane.lint.evidence import marked
from codeplane.lint.linter import Linter, Place, Project, inside
from codeplane.lint.linters._reading import items, mapping, short_lines, word
from codeplane.names.snapshot_tree import Tree
from codeplane.process import Finished
from codeplane.process.command import Command

_POSITION: Final = re.compile(r"^(.+?):(\d+)(?::(\d+))?$")
# What keeps a package from being compiled is told as text.
_BROKEN: Final = re.compile(r"^(?:vet: )?(\S.*?\.go):(\d+):(\d+): (.+)$", re.MULTILINE)
_OBJECT: Final = re.compile(r"^\{", re.MULTILINE)


class _GoVet(Linter):
    name = "govet"
    program = "go"
    globs = ("*.go", "!vendor/")
    is_whole = True
    install = "Install Go."

    def detect(self, tree: Tree) -> Sequence[Project]:
        return marked(tree, "go.mod")

    def command(self, place: Place, project: Project, files: Sequence[RepoPath] | None) -> Command:
        packages = sorted({inside(project, path).rpartition("/")[0] for path in files or ()})
        env = {"GOPROXY": "off", "GOTOOLCHAIN": "local"}
        argv = (str(self.at(place, project)), "vet", "-json", *(packages or ["./..."]))
        return Command(argv, place.cwd(project), env)

    def parse(self, finished: Finished) -> Sequence[Finding]:
        said = short_lines(finished.stderr + b"\n" + finished.stdout)
        findings = [
            Finding(path, int(line), int(column), message, "compile", unit="bytes")
            for path, line, column, message in _BROKEN.findall(said)
        ]
        return [*(one for result in _json_objects(said) for one in _parse_findings(result)), *findings]

    def version(self, place: Place, project: Project) -> Command:
        return Command((str(self.at(place, project)), "version"), place.cwd(project))


def _json_objects(said: str) -> Iterator[Any]:
    """An object for each package, with text between them."""
    for begin in _OBJECT.finditer(said):
        try:
            yield decode_json_at(said, begin.start())
        except Malformed:
            continue


def _parse_findings(packages: object) -> Iterator[Finding]:
    for analyses in mapping(packages).values():
        for rule, result in mapping(analyses).items():
            for one in items(result):
                if place := _POSITION.match(word(one.get("posn"))):
                    line, column = int(place[2]), int(place[3] or 0)
                    message = word(one.get("message"))
                    yield Finding(place[1], line, column, message, rule, "warning", unit="bytes")


LINTER = _GoVet()
