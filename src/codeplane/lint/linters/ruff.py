"""ruff check. Its rules are those of its configuration; fixes are those that it calls safe."""

from collections.abc import Sequence

from codeplane.core.paths import RepoPath
from codeplane.lint.diagnostic import Finding
from codeplane.lint.evidence import first_of, marked, mentioned, with_section
from codeplane.lint.linter import Linter, Place, Project, inside
from codeplane.lint.linters._reading import Json, list_of, mapping, number, severity_of, word
from codeplane.names.snapshot_tree import Tree
from codeplane.process import Finished
from codeplane.process.command import Command


class _Ruff(Linter):
    name = "ruff"
    program = "ruff"
    globs = ("*.py", "*.pyi")
    fixes = True
    install = "pip install ruff (in the project's environment)"

    def detect(self, tree: Tree) -> Sequence[Project]:
        projects = first_of(
            marked(tree, "ruff.toml", ".ruff.toml"), with_section(tree, "pyproject.toml", "tool", "ruff")
        )
        return projects or mentioned(tree, r"\bruff(-pre-commit|\s+check)\b")

    def command(self, place: Place, project: Project, files: Sequence[RepoPath] | None) -> Command:
        names = [inside(project, path) for path in files or ()] or ["."]
        options = ("--no-cache", "--no-fix", "--output-format=json", "--force-exclude")
        return self._made(place, project, *options, "--", *names)

    def parse(self, finished: Finished) -> Sequence[Finding]:
        return [self._finding(one) for one in list_of(finished.stdout)]

    def fixing(self, place: Place, project: Project, path: RepoPath) -> Command | None:
        name = f"--stdin-filename={inside(project, path)}"
        return self._made(
            place, project, "--no-cache", "--quiet", "--fix-only", "--exit-zero", "--force-exclude", name, "-"
        )

    def _made(self, place: Place, project: Project, *options: str) -> Command:
        return Command((str(self.at(place, project)), "check", *options), place.cwd(project))

    def _finding(self, one: Json) -> Finding:
        start, end = mapping(one.get("location")), mapping(one.get("end_location"))
        return Finding(
            word(one.get("filename")),
            number(start.get("row")),
            number(start.get("column")),
            word(one.get("message")),
            word(one.get("code")) or "syntax-error",
            severity_of(one.get("severity")),
            number(end.get("row")),
            number(end.get("column")),
            has_fix=mapping(one.get("fix")).get("applicability") == "safe",
        )


LINTER = _Ruff()
