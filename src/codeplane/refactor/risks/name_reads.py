"""Code asks definitions for their names (`cls.__name__`) and builds other names from them."""

from collections.abc import Iterator
from typing import Final

from codeplane.languages.spec import LanguageSpec
from codeplane.refactor.plan import Problem
from codeplane.refactor.reflection.name_reads import named
from codeplane.refactor.risk import Question

KINDS: Final = ("dynamic",)
SUBJECT: Final = "definition"
ORDER: Final = 20
IS_PER_SITE: Final = False
IS_ABOUT_MOVES: Final = False


def applies(spec: LanguageSpec) -> bool:
    return bool(spec.reflection.name_attributes)


def find(asked: Question) -> Iterator[Problem]:
    """Names that are built from that of the definition."""
    yield from named(asked.snapshot, asked.names)
