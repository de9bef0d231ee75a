"""All fields are read or written at once, by their names: `asdict(x)`, `{ ...x }`, `json.Marshal(x)`."""

from collections.abc import Iterator
from typing import Final

from codeplane.languages.spec import LanguageSpec
from codeplane.refactor.plan import Problem
from codeplane.refactor.reflection.bulk_field_access import read_whole
from codeplane.refactor.risk import Question

KINDS: Final = ("whole",)
SUBJECT: Final = "definition"
ORDER: Final = 160
IS_PER_SITE: Final = False
IS_ABOUT_MOVES: Final = False


def applies(spec: LanguageSpec) -> bool:
    return bool(spec.reflection.bulk_field_access)


def find(asked: Question) -> Iterator[Problem]:
    """Where something that may be of the class of a field is read as a whole."""
    if (place := read_whole(asked.snapshot, asked.names)) is not None:
        yield Problem("whole", "All fields are got or set by their names here.", *place)
