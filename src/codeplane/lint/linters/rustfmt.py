"""rustfmt, in the edition that the package says."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.lint.diagnostic import Finding
from codeplane.lint.evidence import directory, files_named, section, toml_at
from codeplane.lint.linter import Formatter, Place, Project, inside, unformatted
from codeplane.lint.linters._reading import short_lines, word
from codeplane.names.snapshot_tree import Tree
from codeplane.process import Finished
from codeplane.process.command import Command

_BROKEN: Final = re.compile(r"^error(?:\[\w+\])?: (.+)\n +--> (.+?):(\d+):(\d+)$", re.MULTILINE)
_OLDEST: Final = "2015"


class _Rustfmt(Formatter):
    name = "rustfmt"
    program = "rustfmt"
    globs = ("*.rs",)
    install = "rustup component add rustfmt"

    def detect(self, tree: Tree) -> Sequence[Project]:
        manifests = {directory(path): path for path in files_named(tree, "Cargo.toml")}
        return [Project(root, path, _edition_of(tree, path)) for root, path in manifests.items()]

    def command(self, place: Place, project: Project, files: Sequence[RepoPath] | None) -> Command:
        names = [inside(project, path) for path in files or ()]
        return self._made(place, project, RepoPath(""), "--check", "--files-with-diff", *names)

    def parse(self, finished: Finished) -> Sequence[Finding]:
        differing = [
            unformatted(path) for path in short_lines(finished.stdout).splitlines() if path.endswith(".rs")
        ]
        findings = [
            Finding(path, int(line), int(column), message, "syntax-error")
            for message, path, line, column in _BROKEN.findall(short_lines(finished.stderr))
        ]
        return [*differing, *findings]

    def fixing(self, place: Place, project: Project, path: RepoPath) -> Command | None:
        # What it reads from stdin is configured by the directory that it runs in.
        return self._made(place, project, directory(path), "--emit=stdout", "--quiet")

    def _made(self, place: Place, project: Project, at: RepoPath, *options: str) -> Command:
        edition = f"--edition={project.learnt or _OLDEST}"
        cwd = place.root / at if at else place.cwd(project)
        return Command((str(self.at(place, project)), edition, "--color=never", *options), cwd)


def _edition_of(tree: Tree, manifest: RepoPath) -> str:
    """That of the package, which may say that it is the one of the workspace around it."""
    said = section(toml_at(tree, manifest), "package", "edition")
    if not isinstance(said, Mapping):
        return word(said) or _workspace_edition(tree, manifest) or _OLDEST
    around = directory(manifest)
    while around:
        around = directory(around)
        edition = _workspace_edition(tree, RepoPath(f"{around}/Cargo.toml" if around else "Cargo.toml"))
        if edition:
            return edition
    return _workspace_edition(tree, manifest) or _OLDEST


def _workspace_edition(tree: Tree, manifest: RepoPath) -> str:
    return word(section(toml_at(tree, manifest), "workspace", "package", "edition"))


LINTER = _Rustfmt()
