"""A macro makes a string of the name that it is given: `#field`."""

from collections.abc import Iterator
from typing import Final

from codeplane.languages.spec import LanguageSpec
from codeplane.refactor.plan import Problem
from codeplane.refactor.reflection.macro_paste import told_to
from codeplane.refactor.risk import Question

KINDS: Final = ("macro",)
SUBJECT: Final = "any"
ORDER: Final = 220
IS_PER_SITE: Final = True
IS_ABOUT_MOVES: Final = False


def applies(spec: LanguageSpec) -> bool:
    return spec.reflection.pastes_tokens


def find(asked: Question) -> Iterator[Problem]:
    """Sites that are given to such a macro."""
    yield from told_to(asked.snapshot, asked.sites)
