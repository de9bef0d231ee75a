"""A function is passed on where code reads the names of parameters: `inspect.signature(f)`."""

import re
from collections.abc import Iterator, Sequence

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages import specs
from codeplane.names import Snapshot
from codeplane.refactor.occurrences.keywords import Keywords
from codeplane.refactor.plan import Problem
from codeplane.refactor.rename_set import RenameSet
from codeplane.refactor.risk import Question, risk
from codeplane.refactor.text import Lines


@risk(kinds=("dynamic",), subject="parameter", order=180)
def find(question: Question) -> Iterator[Problem]:
    """Functions of the parameter that are passed on."""
    for place in sorted(question.names.functions):
        yield from _parameters_read(question.snapshot, place, question.names)


def _parameters_read(snapshot: Snapshot, place: Place, rename_set: RenameSet) -> Iterator[Problem]:
    """Functions that are handed on where functions are asked for the names of their parameters, or beside a
    text that is the name of one."""
    takers = Keywords(snapshot, rename_set).taking(place)
    words = specs()[snapshot.definition(place).language].reflection.signature_inspection if takers else ()
    near = sorted(snapshot.paths_with_any(words)) if words else []
    read = [path for path in near if _has_name(snapshot, path, words)]
    item = snapshot.definition(place).item
    if read:
        text = f"{item.name} is handed on, and functions are asked for the names of their parameters."
        yield Problem("dynamic", text, RepoPath(read[0]))
    pattern = re.compile(rf"""["']{re.escape(rename_set.name)}["']""".encode("utf-8", "surrogateescape"))
    for path in takers:
        lines = Lines(snapshot.source(path))
        if (match := pattern.search(lines.data)) is not None:
            text = f"{item.name} is handed on beside a text that is the name of the parameter."
            yield Problem("dynamic", text, path, lines.position(match.start())[0])


def _has_name(snapshot: Snapshot, path: str, words: Sequence[str]) -> bool:
    """Whether code of a file has one of some names in it."""
    return any(any(True for _ in snapshot.occurrences(path, word)) for word in words)
