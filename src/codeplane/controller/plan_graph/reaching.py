"""The tests that reach what a change is about."""

from collections.abc import Sequence
from typing import Final

from codeplane.controller.evidence.symbols import match_symbol
from codeplane.core.paths import RepoPath
from codeplane.graph.tests.impact import AffectedTest, Known, Match, affected_tests
from codeplane.jail import shown
from codeplane.names import MOST, Snapshot

_NEAR: Final = 2  # imports between a test and the file, where no reference is known
_MOST_FILES: Final = 400  # that are looked at for references


def reaching_tests(snapshot: Snapshot, path: RepoPath, symbols: Sequence[str]) -> list[str]:
    """The test files that reach some symbols of a file, surest first.

    A test that refers to them comes before one that only imports the file. Where names are found at run
    time, no reference is known; then a test that imports the file reaches it.
    """
    if not snapshot.exists(path):
        return []
    starts = {match.first_line for symbol in symbols for match in match_symbol(snapshot, path, symbol)}
    numbers = [
        fact.position for fact in snapshot.definitions_in(path, MOST).items if fact.span.start_line in starts
    ]
    knowledge = Known({path: numbers} if numbers else {}, most_files=_MOST_FILES)
    tests = [one for one in affected_tests(snapshot, [path], knowledge).tests if _is_near(one)]
    tests.sort(key=lambda one: not one.reaches)
    return [one.path for one in tests if one.path == shown(one.path)]  # a hook can name it


def _is_near(test: AffectedTest) -> bool:
    return test.reaches or test.match in (Match.EXACT, Match.RUN, Match.DATA) or test.distance <= _NEAR
