"""A framework or test runner looks for the name: `setUp`, `test_…`, `pytest_configure`."""

import re
from collections.abc import Iterator

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.graph.places import flags_of
from codeplane.languages import specs
from codeplane.languages.facts import FLAG_TEST
from codeplane.names import Snapshot
from codeplane.refactor.plan import Problem
from codeplane.refactor.risk import Question, risk


@risk(kinds=("hook",), subject="definition", order=50, is_about_moves=True)
def find(question: Question) -> Iterator[Problem]:
    """Names that test runners and other frameworks look for."""
    for place in sorted(question.names.places):
        yield from _called_from_outside(question.snapshot, place)


def _called_from_outside(snapshot: Snapshot, place: Place) -> Iterator[Problem]:
    """Names that test runners and other frameworks look for."""
    item, hooks = (
        snapshot.definition(place).item,
        specs()[snapshot.definition(place).language].testing.framework_hooks,
    )
    is_test = bool(flags_of(snapshot, place) & FLAG_TEST)
    if is_test or (hooks and re.fullmatch(hooks, item.name)):
        text = f"{item.name} is a name that a framework calls by."
        yield Problem("hook", text, RepoPath(place.path), item.name_line)
