"""ESLint. Its configuration is a program of the repository."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.lint.diagnostic import Finding
from codeplane.lint.evidence import first_of, marked, with_key
from codeplane.lint.linter import Linter, Place, Project, Unreadable, inside
from codeplane.lint.linters._reading import Json, items, list_of, number, word
from codeplane.names.snapshot_tree import Tree
from codeplane.process import Finished
from codeplane.process.command import Command

_IGNORED: Final = "File ignored"


class _Eslint(Linter):
    name = "eslint"
    program = "eslint"
    globs = ("*.{js,jsx,mjs,cjs,ts,tsx,mts,cts,vue,svelte,astro}",)
    fixes = True
    install = "npm install --save-dev eslint"

    def detect(self, tree: Tree) -> Sequence[Project]:
        flat = marked(
            tree, "eslint.config.[cm]js", "eslint.config.js", "eslint.config.[cm]ts", "eslint.config.ts"
        )
        return first_of(flat, marked(tree, ".eslintrc", ".eslintrc.*"), with_key(tree, "eslintConfig"))

    def command(self, place: Place, project: Project, files: Sequence[RepoPath] | None) -> Command:
        names = [inside(project, path) for path in files or ()] or ["."]
        options = ("--format=json", "--no-error-on-unmatched-pattern")
        return Command((str(self.at(place, project)), *options, "--", *names), place.cwd(project))

    def parse(self, finished: Finished) -> Sequence[Finding]:
        return [one for file in list_of(finished.stdout) for one in _parse_findings(file)]

    def fixing(self, place: Place, project: Project, path: RepoPath) -> Command | None:
        options = ("--format=json", "--fix-dry-run", "--stdin", f"--stdin-filename={inside(project, path)}")
        return Command((str(self.at(place, project)), *options), place.cwd(project))

    def fixing_all(self, place: Place, project: Project, files: Sequence[RepoPath]) -> Command | None:
        names = [inside(project, path) for path in files]
        options = ("--format=json", "--fix-dry-run", "--no-error-on-unmatched-pattern")
        return Command((str(self.at(place, project)), *options, "--", *names), place.cwd(project))

    def fixed_all(self, finished: Finished) -> Mapping[str, bytes]:
        if finished.is_cut:
            raise Unreadable
        files = list_of(finished.stdout)
        return {word(one.get("filePath")): _fixed_content(one) for one in files if word(one.get("output"))}

    def fixed(self, finished: Finished, given: bytes) -> bytes:
        """The content is printed only where something was fixed."""
        files = list_of(finished.stdout)
        if finished.is_cut or not files:
            raise Unreadable
        return _fixed_content(files[0]) if isinstance(files[0].get("output"), str) else given


def _fixed_content(file: Json) -> bytes:
    return word(file.get("output")).encode("utf-8", "surrogatepass")


def _parse_findings(file: Json) -> Iterator[Finding]:
    for one in items(file.get("messages")):
        if one.get("ruleId") is None and word(one.get("message")).startswith(_IGNORED):
            continue
        yield Finding(
            word(file.get("filePath")),
            number(one.get("line")),
            number(one.get("column")),
            word(one.get("message")),
            word(one.get("ruleId")) or "syntax-error",
            "error" if one.get("severity") == 2 else "warning",
            number(one.get("endLine")),
            number(one.get("endColumn")),
            has_fix="fix" in one,
            unit="utf16",
        )


LINTER = _Eslint()
