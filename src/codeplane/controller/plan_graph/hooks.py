"""What can show that a change works: `parse`, `lint`, `tests`, `test:PATH`, `review`."""

import re
from collections.abc import Sequence
from typing import Final

PARSE: Final = "parse"
LINT: Final = "lint"
TESTS: Final = "tests"
REVIEW: Final = "review"
TEST_PREFIX: Final = "test:"
HOOKS: Final = {
    PARSE: "The files of the change have no syntax errors.",
    LINT: "Linters and formatters find nothing new.",
    TESTS: "The tests that the change affects pass.",
    f"{TEST_PREFIX}PATH": "The tests of a file pass; `PATH::NAME` is one test.",
    REVIEW: "A person is asked to look at the change; it holds nothing up.",
}
_OTHER_NAMES: Final = {
    **dict.fromkeys("syntax compile parses syntax_check ast".split(), PARSE),
    **dict.fromkeys("linter linters ruff eslint flake8 format formatter style lint_check".split(), LINT),
    **dict.fromkeys(
        "test pytest unittest jest vitest affected_tests impacted_tests unit_tests unit run_tests".split(),
        TESTS,
    ),
    **dict.fromkeys("human_review manual manual_review human".split(), REVIEW),
}
_RUNNER: Final = re.compile(
    r"(?:\S*(?:pytest|unittest|jest|vitest|mocha|go test|cargo test))(?:\s+-\S+)*\s+(?P<path>[^\s-]\S*)"
)


def read_hook(text: str) -> str | None:
    """The hook that a text means; None where it means none."""
    word = re.sub(r"[\s-]+", "_", text.strip().lower())
    if word in HOOKS or word in _OTHER_NAMES:
        return _OTHER_NAMES.get(word, word)
    if match := re.fullmatch(r"tests?\s*:\s*(\S.*)", text.strip(), re.IGNORECASE):
        return f"{TEST_PREFIX}{match[1].strip()}"
    if match := _RUNNER.fullmatch(text.strip()):
        return f"{TEST_PREFIX}{match['path']}"
    if re.fullmatch(r"[^\s:]+/[^\s:]+\.\w+(::\S+)?|test_\w+\.py(::\S+)?", text.strip()):
        return f"{TEST_PREFIX}{text.strip()}"
    return None


def test_path(hook: str) -> str:
    """The file of a `test:` hook; empty for another hook."""
    return hook.removeprefix(TEST_PREFIX).split("::")[0] if hook.startswith(TEST_PREFIX) else ""


def is_only_static(hooks: Sequence[str]) -> bool:
    """Whether nothing is run and nobody looks: the hooks parse or lint."""
    return set(hooks) <= {PARSE, LINT}
