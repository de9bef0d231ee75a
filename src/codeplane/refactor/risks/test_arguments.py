"""A test runner may pass the argument of a test by name."""

from collections.abc import Iterator

from codeplane.core.paths import RepoPath
from codeplane.graph.places import flags_of
from codeplane.languages.facts import FLAG_TEST
from codeplane.refactor.plan import Problem
from codeplane.refactor.risk import Question, risk


@risk(kinds=("test",), subject="parameter", order=190)
def find(question: Question) -> Iterator[Problem]:
    """Parameters of tests."""
    for place in sorted(question.names.functions):
        if flags_of(question.snapshot, place) & FLAG_TEST:
            item = question.snapshot.definition(place).item
            text = f"What runs the tests may give {item.name} its arguments by name."
            yield Problem("test", text, RepoPath(place.path), item.name_line)
