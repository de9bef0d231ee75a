"""clippy on a whole workspace. What it builds is kept outside of the tree, and nothing is fetched for it."""

from collections.abc import Sequence

from codeplane.core.paths import RepoPath
from codeplane.lint.diagnostic import Finding
from codeplane.lint.evidence import marked
from codeplane.lint.linter import Linter, Place, Project
from codeplane.lint.linters._reading import Json, items, json_lines, mapping, number, severity_of, word
from codeplane.names.snapshot_tree import Tree
from codeplane.process import Finished
from codeplane.process.command import Command


class _Clippy(Linter):
    name = "clippy"
    program = "cargo"
    globs = ("*.rs",)
    is_whole = True
    is_outermost = True
    install = "rustup component add clippy"

    def detect(self, tree: Tree) -> Sequence[Project]:
        return marked(tree, "Cargo.toml")

    def command(self, place: Place, project: Project, files: Sequence[RepoPath] | None) -> Command:
        place.toolbox.find("cargo-clippy", project.root)
        path = place.cache_of(self.name, project)
        options = ("--workspace", "--all-targets", "--locked", "--offline", "--message-format=json")
        argv = (str(self.at(place, project)), "clippy", *options, f"--target-dir={path}")
        return Command(argv, place.cwd(project))

    def parse(self, finished: Finished) -> Sequence[Finding]:
        return cargo_findings(finished.stdout)

    def version(self, place: Place, project: Project) -> Command:
        return Command((str(self.at(place, project)), "clippy", "--version"), place.cwd(project))


def cargo_findings(data: bytes) -> list[Finding]:
    """What the compiler says in the messages that cargo prints as JSON."""
    lines = [
        mapping(one.get("message")) for one in json_lines(data) if one.get("reason") == "compiler-message"
    ]
    return [_make_finding(message, span) for message in lines for span in _primary_spans(message)]


def _primary_spans(message: Json) -> Sequence[Json]:
    return [span for span in items(message.get("spans")) if span.get("is_primary")][:1]


def _make_finding(message: Json, span: Json) -> Finding:
    return Finding(
        word(span.get("file_name")),
        number(span.get("line_start")),
        number(span.get("column_start")),
        word(message.get("message")),
        word(mapping(message.get("code")).get("code")) or "rustc",
        severity_of(message.get("level")),
        number(span.get("line_end")),
        number(span.get("column_end")),
    )


LINTER = _Clippy()
