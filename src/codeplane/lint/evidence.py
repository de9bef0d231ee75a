"""What in a repository says that a linter is used: configuration files, sections of them, commands."""

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final

from codeplane.core.documents import ini_sections, json_object, toml_table
from codeplane.core.paths import RepoPath
from codeplane.lint.linter import Project
from codeplane.names.snapshot_tree import Tree

# Files in which a repository writes down the commands that it is checked with.
_TASKS: Final = (
    ".pre-commit-config.yaml Makefile makefile GNUmakefile justfile Justfile Taskfile.yml tox.ini noxfile.py "
    "package.json lefthook.yml"
).split()
_WORKFLOWS: Final = ".github/workflows/"


class Named:
    """A tree whose files are found by their names without a walk."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self.by_name: dict[str, list[RepoPath]] = {}
        for path in tree.paths():
            self.by_name.setdefault(path.rpartition("/")[2], []).append(path)

    def paths(self) -> Sequence[RepoPath]:
        return self._tree.paths()

    def text(self, path: RepoPath) -> str | None:
        return self._tree.text(path)


def files_named(tree: Tree, *names: str) -> list[RepoPath]:
    """Files by their names, which may be patterns, in any directory; sorted."""
    by_name = (tree if isinstance(tree, Named) else Named(tree)).by_name
    exact = [name for name in names if not set(name) & set("*?[")]
    paths = {path for name in exact for path in by_name.get(name, ())}
    for pattern in (name for name in names if name not in exact):
        paths.update(path for name in by_name if fnmatchcase(name, pattern) for path in by_name[name])
    return sorted(paths)


def directory(path: RepoPath) -> RepoPath:
    return RepoPath(path.rpartition("/")[0])


def marked(tree: Tree, *names: str) -> list[Project]:
    """A project at each file of these names."""
    return [Project(directory(path), path) for path in files_named(tree, *names)]


def toml_at(tree: Tree, path: RepoPath) -> Mapping[str, object]:
    """A TOML file; empty where it is none."""
    return toml_table(tree.text(path))


def json_at(tree: Tree, path: RepoPath) -> Mapping[str, object]:
    """A JSON object, comments and trailing commas allowed; empty where it is none."""
    return json_object(tree.text(path), comments=True)


def section(table: object, *keys: str) -> object:
    """What is below keys of nested mappings; None where nothing is."""
    for key in keys:
        table = table.get(key) if isinstance(table, Mapping) else None
    return table


def with_section(tree: Tree, name: str, *keys: str) -> list[Project]:
    """A project at each TOML file of this name that has the section."""
    return [
        Project(directory(path), f"{path}: {'.'.join(keys)}")
        for path in files_named(tree, name)
        if section(toml_at(tree, path), *keys) is not None
    ]


def with_key(tree: Tree, key: str) -> list[Project]:
    """A project at each package.json that has the key."""
    return [
        Project(directory(path), f"{path}: {key}")
        for path in files_named(tree, "package.json")
        if key in json_at(tree, path)
    ]


def ini_at(tree: Tree, path: RepoPath) -> Mapping[str, Mapping[str, str]]:
    """An INI file; empty where it is none."""
    return ini_sections(tree.text(path))


def mentioned(tree: Tree, pattern: str) -> list[Project]:
    """The repository, where one of the files with its commands has the pattern."""
    regex = re.compile(pattern)
    there = set(tree.paths())
    tasks = [RepoPath(name) for name in _TASKS if name in there]
    tasks += [path for path in tree.paths() if path.startswith(_WORKFLOWS)]
    for path in tasks:
        if regex.search(tree.text(path) or ""):
            return [Project(RepoPath(""), path)]
    return []


def first_of(*found: Iterable[Project]) -> Sequence[Project]:
    """One project a directory: the first that was found there."""
    remaining: dict[tuple[RepoPath, str], Project] = {}
    for projects in found:
        for project in projects:
            remaining.setdefault((project.root, project.learnt), project)
    return list(remaining.values())
