"""Which files have surfaces of the repository itself."""

from collections.abc import Callable
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.names import Codebase

_LEFT_OUT: Final = frozenset({"TEST", "VENDORED", "BUILT"})


def own_files(code: Codebase, *, include_tests: bool = False) -> Callable[[RepoPath], bool]:
    """Whether a file counts: tests, fixtures, copies of others' code and built files don't."""
    if include_tests:
        return lambda _: True
    tests = code.tests()
    table: dict[RepoPath, bool] = {}

    def is_own(path: RepoPath) -> bool:
        if path not in table:
            table[path] = path not in tests and code.purpose(path).name not in _LEFT_OUT
        return table[path]

    return is_own
