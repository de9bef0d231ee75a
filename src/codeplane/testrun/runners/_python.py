"""Test files of Python, and what settings of a project say about them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from posixpath import basename, dirname
from typing import Final

from codeplane.core.documents import ini_sections
from codeplane.core.paths import RepoPath
from codeplane.names.snapshot_tree import Tree

DEFAULT_FILES: Final = ("test_*.py", "*_test.py")
_PASSED_OVER: Final = ("node_modules", "venv", "build", "dist", "site-packages")
_WORD: Final = re.compile(r"[\w.*?\[\]/-]+")


def python_files(tree: Tree, root: RepoPath, patterns: Sequence[str] = DEFAULT_FILES) -> list[RepoPath]:
    """The files below a directory whose names are those of tests."""
    return [path for path in below(tree, root) if any(fnmatch(basename(path), one) for one in patterns)]


def below(tree: Tree, root: RepoPath) -> Iterator[RepoPath]:
    prefix = f"{root}/" if root else ""
    for path in tree.paths():
        if path.startswith(prefix) and path.endswith(".py"):
            parents = path[len(prefix) :].split("/")[:-1]
            if not any(part in _PASSED_OVER or part.startswith(".") for part in parents):
                yield path


def named(tree: Tree, *names: str) -> Iterator[RepoPath]:
    """The files of these names, the uppermost first."""
    paths = [path for path in tree.paths() if basename(path) in names]
    yield from sorted(paths, key=lambda path: (path.count("/"), path))


def directory(path: RepoPath) -> RepoPath:
    return RepoPath(dirname(path))


def section(text: str | None, name: str) -> Mapping[str, str] | None:
    """A section of an ini file; None where it has none, or is none."""
    return ini_sections(text).get(name)


def words(value: object) -> list[str]:
    """A list in a setting: several values, or one text of words."""
    if isinstance(value, str):
        return _WORD.findall(value)
    return [str(one) for one in value] if isinstance(value, list) else []
