"""Which endpoints belong to tests."""

from codeplane.languages.facts import FLAG_TEST
from codeplane.names import Codebase
from codeplane.surfaces.routes import Endpoint
from codeplane.surfaces.scope import has_inline_tests, own_files


def is_of_tests(code: Codebase, one: Endpoint) -> bool:
    """Whether an endpoint is in a file that does not count, or in a test inside of the file that it tests."""
    return not own_files(code)(one.path) or _is_in_test(code, one)


def _is_in_test(code: Codebase, one: Endpoint) -> bool:
    return has_inline_tests(code, one.path) and any(
        item.span.start_line <= one.line <= item.span.end_line
        and (item.flags & FLAG_TEST or (item.kind == "module" and item.name in ("tests", "test")))
        for item in code.require_facts(one.path).definitions
    )
