"""A macro pastes names together that begin or end like this one (`get_##part`)."""

from collections.abc import Iterator
from typing import Final

from codeplane.languages.spec import LanguageSpec
from codeplane.refactor.plan import Problem
from codeplane.refactor.reflection.macro_paste import made_of
from codeplane.refactor.risk import Question

KINDS: Final = ("macro",)
SUBJECT: Final = "definition"
ORDER: Final = 30
IS_PER_SITE: Final = False
IS_ABOUT_MOVES: Final = False


def applies(spec: LanguageSpec) -> bool:
    return spec.reflection.pastes_tokens


def find(asked: Question) -> Iterator[Problem]:
    """Macros whose parts fit one of the names."""
    names = (asked.names.name, asked.new) if asked.new else (asked.names.name,)
    yield from made_of(asked.snapshot, min(asked.names.places).path, names)
