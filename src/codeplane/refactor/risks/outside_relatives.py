"""A member may belong together with one outside of the repository, or with literals of the same shape."""

from collections.abc import Iterator
from typing import Final

from codeplane.languages.spec import LanguageSpec
from codeplane.refactor.plan import Problem
from codeplane.refactor.risk import Question

KINDS: Final = ("outside_base", "silent_interface", "object")
SUBJECT: Final = "definition"
ORDER: Final = 10
IS_PER_SITE: Final = False
IS_ABOUT_MOVES: Final = True


def applies(spec: LanguageSpec) -> bool:
    del spec
    return True


def find(asked: Question) -> Iterator[Problem]:
    """What was found while the definitions that keep the name together were looked for."""
    yield from asked.names.doubts
