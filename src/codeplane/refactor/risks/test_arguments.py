"""A test runner may pass the argument of a test by name."""

from collections.abc import Iterator
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.graph.places import flags_of
from codeplane.languages.facts import FLAG_TEST
from codeplane.languages.spec import LanguageSpec
from codeplane.refactor.plan import Problem
from codeplane.refactor.risk import Question

KINDS: Final = ("test",)
SUBJECT: Final = "parameter"
ORDER: Final = 190
IS_PER_SITE: Final = False
IS_ABOUT_MOVES: Final = False


def applies(spec: LanguageSpec) -> bool:
    del spec
    return True


def find(asked: Question) -> Iterator[Problem]:
    """Parameters of tests."""
    for place in sorted(asked.names.functions):
        if flags_of(asked.snapshot, place) & FLAG_TEST:
            item = asked.snapshot.definition(place).item
            text = f"What runs the tests may give {item.name} its arguments by name."
            yield Problem("test", text, RepoPath(place.path), item.name_line)
