"""The TypeScript compiler, checking alone."""

import re
from collections.abc import Iterator, Sequence
from posixpath import normpath
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.lint.diagnostic import Finding
from codeplane.lint.evidence import directory, files_named, json_at
from codeplane.lint.linter import Linter, Place, Project, Unreadable, inside
from codeplane.lint.linters._reading import items, severity_of, short_lines, word
from codeplane.names.snapshot_tree import Tree
from codeplane.process import Finished
from codeplane.process.command import Command

_LINE: Final = re.compile(
    r"^(?:(?P<path>\S.*?)\((?P<line>\d+),(?P<column>\d+)\): )?"
    r"(?P<severity>error|warning) (?P<rule>TS\d+): (?P<message>.*)$"
)
_OPTIONS: Final = re.compile(r"TS(?:[56]\d{3}|18\d{3})")  # TS5069: one option needs another
_LONGEST: Final = 1_000  # of a message, which goes on in lines below it


class _Tsc(Linter):
    name = "tsc"
    program = "tsc"
    globs = ("*.{ts,tsx,mts,cts,js,jsx}",)
    is_whole = True
    install = "npm install --save-dev typescript"

    def detect(self, tree: Tree) -> Sequence[Project]:
        return [one for path in files_named(tree, "tsconfig.json") for one in _projects_of(tree, path)]

    def command(self, place: Place, project: Project, files: Sequence[RepoPath] | None) -> Command:
        # A project that others build upon always writes down what it has seen: not into the tree.
        path = place.cache_of(self.name, project) / "seen.tsbuildinfo"
        config = inside(project, RepoPath(project.learnt or "tsconfig.json"))
        options = ("--noEmit", "--pretty", "false", "--tsBuildInfoFile", str(path), "-p", config)
        return Command((str(self.at(place, project)), *options), place.cwd(project))

    def parse(self, finished: Finished) -> Sequence[Finding]:
        findings: list[Finding] = []
        for line in short_lines(finished.stdout).splitlines():
            if match := _LINE.match(line):
                findings.append(
                    Finding(
                        match["path"] or "",
                        int(match["line"] or 0),
                        int(match["column"] or 0),
                        match["message"],
                        match["rule"],
                        severity_of(match["severity"]),
                        unit="utf16",
                    )
                )
            elif findings and line.startswith("  ") and len(findings[-1].message) < _LONGEST:
                findings[-1] = findings[-1]._replace(message=f"{findings[-1].message} {line.strip()}")
        if findings and all(_is_about_options(one) for one in findings):
            raise Unreadable("stopped at its options and checked no types")
        return findings


def _is_about_options(one: Finding) -> bool:
    """Whether an error is in the configuration: after such a one, the compiler looks at no types."""
    return _OPTIONS.fullmatch(one.rule) is not None and (not one.path or one.path.endswith(".json"))


def _projects_of(tree: Tree, path: RepoPath) -> Iterator[Project]:
    """A configuration that only names others stands for those."""
    config = json_at(tree, path)
    if config.get("files") == [] and "include" not in config:
        there = set(tree.paths())
        for one in items(config.get("references")):
            reference = RepoPath(normpath(f"{directory(path)}/{word(one.get('path'))}".removeprefix("/")))
            if reference in there:
                yield Project(directory(path), path, reference)
    else:
        yield Project(directory(path), path, path)


LINTER = _Tsc()
