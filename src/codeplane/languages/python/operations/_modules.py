"""Which module a file is, judged by its path in the repository."""

import posixpath
from typing import Final

from codeplane.languages.operations import Source

_MODULE_FILES: Final = ("/__init__.py", ".py", "/__init__.pyi", ".pyi")


def is_own_package(source: Source, module: str) -> bool:
    """Whether a module is of the repository: `p.a` for `src/p/b.py`, or for a file that stands beside `p`."""
    root = module.partition(".")[0]
    folders = [part for part in posixpath.dirname(source.path).split("/") if part]
    if not root or root in folders:
        return bool(root)
    for depth in reversed(range(len(folders) + 1)):
        for below in ((), ("src",), ("lib",)):
            place = "/".join((*folders[:depth], *below, root))
            if any(source.has_file(place + ending) for ending in _MODULE_FILES):
                return True
    return False


def is_same_module(path: str, one: str | None, other: str | None) -> bool:
    """Whether two texts mean the same module in a file, one of them perhaps relative."""
    if one == other or one is None or other is None:
        return one == other
    return absolute_module(path, one, other) == absolute_module(path, other, one)


def absolute_module(path: str, module: str, hint: str) -> str:
    """The full name of a relative module, from the package that `hint` begins with; others as they are."""
    rest = module.lstrip(".")
    depth = len(module) - len(rest)
    folders = [part for part in posixpath.dirname(path).split("/") if part]
    root = hint.lstrip(".").partition(".")[0]
    if not depth or depth - 1 >= len(folders) or (not hint.startswith(".") and root not in folders):
        return module
    package = folders[: len(folders) - depth + 1]
    start = package.index(root) if root in package and not hint.startswith(".") else 0
    return ".".join([*package[start:], *([rest] if rest else [])])
