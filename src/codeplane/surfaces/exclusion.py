"""Which endpoints belong to tests: those in files of tests, and in tests beside the code that they test."""

import re
from typing import Final

from codeplane.languages.facts import FLAG_TEST
from codeplane.names import Codebase
from codeplane.surfaces.routes import Endpoint

_INLINE: Final = frozenset({"rust"})  # languages whose unit tests stand in the file that they test
_TEST_PATH: Final = re.compile(
    r"(^|/)(tests?|benches|testdata|fixtures)/|(^|[/_])tests?\.\w+$|(^|/)test_[^/]*$"
)


def is_of_tests(code: Codebase, one: Endpoint) -> bool:
    """Whether an endpoint only exists in tests."""
    if one.path not in code.tests():
        return False
    facts = code.require_facts(one.path)
    if facts.language not in _INLINE or _TEST_PATH.search(one.path):
        return True
    return any(
        item.span.start_line <= one.line <= item.span.end_line
        and (item.flags & FLAG_TEST or (item.kind == "module" and item.name in ("tests", "test")))
        for item in facts.definitions
    )
