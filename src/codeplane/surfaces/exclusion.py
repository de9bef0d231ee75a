"""Which endpoints stand in tests inside of the file that they test."""

from codeplane.languages.facts import FLAG_TEST
from codeplane.names import Codebase
from codeplane.surfaces.routes import Endpoint
from codeplane.surfaces.scope import has_inline_tests


def is_in_test(code: Codebase, one: Endpoint) -> bool:
    """Whether an endpoint only exists in a test, in a file that counts."""
    return has_inline_tests(code, one.path) and any(
        item.span.start_line <= one.line <= item.span.end_line
        and (item.flags & FLAG_TEST or (item.kind == "module" and item.name in ("tests", "test")))
        for item in code.require_facts(one.path).definitions
    )
