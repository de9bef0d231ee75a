"""Biome: lint, format and imports, as far as its configuration has them switched on."""

from collections.abc import Sequence
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.lint.diagnostic import FORMAT, Finding
from codeplane.lint.evidence import marked
from codeplane.lint.linter import Linter, Place, Project, inside, unformatted
from codeplane.lint.linters._reading import Json, items, mapping, number, object_of, severity_of, word
from codeplane.names.snapshot_tree import Tree
from codeplane.process import Finished
from codeplane.process.command import Command

_SAFE: Final = "Safe fix"
_WOULD: Final = "Formatter would"


class _Biome(Linter):
    name = "biome"
    program = "biome"
    globs = ("*.{js,jsx,mjs,cjs,ts,tsx,mts,cts,json,jsonc,css,graphql,vue,svelte,astro}",)
    fixes = True
    install = "npm install --save-dev @biomejs/biome"

    def detect(self, tree: Tree) -> Sequence[Project]:
        return marked(tree, "biome.json", "biome.jsonc", ".biome.json", ".biome.jsonc")

    def command(self, place: Place, project: Project, files: Sequence[RepoPath] | None) -> Command:
        names = [inside(project, path) for path in files or ()] or ["."]
        options = (
            "--reporter=json",
            "--max-diagnostics=none",
            "--no-errors-on-unmatched",
            "--files-ignore-unknown=true",
        )
        return self._made(place, project, "check", *options, *names)

    def parse(self, finished: Finished) -> Sequence[Finding]:
        return [_parse_finding(one) for one in items(object_of(finished.stdout).get("diagnostics"))]

    def fixing(self, place: Place, project: Project, path: RepoPath) -> Command | None:
        return self._made(place, project, "check", "--write", f"--stdin-file-path={inside(project, path)}")

    def formatting(self, place: Place, project: Project, path: RepoPath) -> Command | None:
        return self._made(place, project, "format", f"--stdin-file-path={inside(project, path)}")

    def _made(self, place: Place, project: Project, *options: str) -> Command:
        return Command((str(self.at(place, project)), *options), place.cwd(project))


def _parse_finding(one: Json) -> Finding:
    where = mapping(one.get("location"))
    path = where.get("path")
    name = word(path) or word(mapping(path).get("file"))
    rule, message = word(one.get("category")), word(one.get("message"))
    if rule == FORMAT and message.startswith(_WOULD):
        return unformatted(name)
    start, end = mapping(where.get("start")), mapping(where.get("end"))
    advice_texts = [word(advice.get("text")) for advice in items(one.get("advices"))]
    return Finding(
        name,
        number(start.get("line")),
        number(start.get("column")),
        message,
        "syntax-error" if rule == "parse" else rule,
        severity_of(one.get("severity")),
        number(end.get("line")),
        number(end.get("column")),
        has_fix=rule.startswith("assist/") or any(text.startswith(_SAFE) for text in advice_texts),
    )


LINTER = _Biome()
