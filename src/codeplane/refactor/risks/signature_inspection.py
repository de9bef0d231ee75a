"""A function is passed on where code reads the names of parameters: `inspect.signature(f)`."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages import specs
from codeplane.languages.spec import LanguageSpec
from codeplane.names import Snapshot
from codeplane.refactor.occurrences.keywords import Keywords
from codeplane.refactor.plan import Problem
from codeplane.refactor.rename_set import RenameSet
from codeplane.refactor.risk import Question
from codeplane.refactor.text import Lines

KINDS: Final = ("dynamic",)
SUBJECT: Final = "parameter"
ORDER: Final = 180
IS_PER_SITE: Final = False
IS_ABOUT_MOVES: Final = False


def applies(spec: LanguageSpec) -> bool:
    del spec
    return True


def find(asked: Question) -> Iterator[Problem]:
    """Functions of the parameter that are passed on."""
    for place in sorted(asked.names.functions):
        yield from _parameters_read(asked.snapshot, place, asked.names)


def _parameters_read(snapshot: Snapshot, place: Place, family: RenameSet) -> Iterator[Problem]:
    """Functions that are handed on where functions are asked for the names of their parameters, or beside a
    text that is the name of one."""
    taken = Keywords(snapshot, family).taking(place)
    words = specs()[snapshot.definition(place).language].reflection.signature_inspection if taken else ()
    near = sorted(snapshot.paths_with_any(words)) if words else []
    read = [path for path in near if _has_name(snapshot, path, words)]
    item = snapshot.definition(place).item
    if read:
        text = f"{item.name} is handed on, and functions are asked for the names of their parameters."
        yield Problem("dynamic", text, RepoPath(read[0]))
    quoted = re.compile(rf"""["']{re.escape(family.name)}["']""".encode("utf-8", "surrogateescape"))
    for path in taken:
        lines = Lines(snapshot.source(path))
        if (found := quoted.search(lines.data)) is not None:
            text = f"{item.name} is handed on beside a text that is the name of the parameter."
            yield Problem("dynamic", text, path, lines.position(found.start())[0])


def _has_name(snapshot: Snapshot, path: str, words: Sequence[str]) -> bool:
    """Whether code of a file has one of some names in it."""
    return any(any(True for _ in snapshot.occurrences(path, word)) for word in words)
