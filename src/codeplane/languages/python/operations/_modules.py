"""Which module a file is, judged by its path in the repository."""

import posixpath

_SUFFIXES = (".py", ".pyi", ".pyw")


def is_own_package(path: str, module: str) -> bool:
    """Whether a module is of the package that a file stands in: `p.a` for `src/p/b.py`."""
    root = module.partition(".")[0]
    return bool(root) and root in posixpath.dirname(path).split("/")


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
