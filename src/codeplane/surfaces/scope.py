"""Which files have surfaces of the repository itself."""

import re
from collections.abc import Callable
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.slots import EpochSlot
from codeplane.names import Codebase

_OWN: Final[EpochSlot[RepoPath, bool]] = EpochSlot("files with own surfaces")
_FOREIGN: Final = frozenset({"VENDORED", "BUILT"})
_INLINE: Final = frozenset({"rust"})  # languages whose unit tests stand in the file that they test
_TEST_PATH: Final = re.compile(
    r"(^|/)(tests?|benches|testdata|fixtures)/|(^|[/_])tests?\.\w+$|(^|/)test_[^/]*$"
)


def own_files(code: Codebase, *, include_tests: bool = False) -> Callable[[RepoPath], bool]:
    """Whether a file counts: tests, fixtures, copies of others' code and built files don't."""
    if include_tests:
        return lambda _: True
    tests = code.tests()
    table = code.answers(_OWN)

    def is_own(path: RepoPath) -> bool:
        if path not in table:
            purpose = code.purpose(path).name
            is_test = path in tests or purpose == "TEST"
            table[path] = purpose not in _FOREIGN and (not is_test or has_inline_tests(code, path))
        return table[path]

    return is_own


def has_inline_tests(code: Codebase, path: RepoPath) -> bool:
    """Whether tests may stand in a file beside what they test, as in Rust."""
    facts = code.facts(path)
    return facts is not None and facts.language in _INLINE and not _TEST_PATH.search(path)
