"""Which module a file is, judged by its path in the repository."""

import posixpath

from codeplane.languages.operations import Source


def is_own_package(source: Source, module: str) -> bool:
    """Whether a module is of the repository, or of the package that the file stands in.

    `p.a` is for `src/p/b.py`. Which other packages the repository has is known by its caller alone.
    """
    root = module.partition(".")[0]
    return bool(root) and (root in source.own_packages or root in posixpath.dirname(source.path).split("/"))


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
