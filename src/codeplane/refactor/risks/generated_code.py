"""Code of other languages is generated from the definition, and has its name."""

from collections.abc import Iterator
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.spec import LanguageSpec
from codeplane.names import Snapshot
from codeplane.refactor.plan import Problem
from codeplane.refactor.risk import Question

KINDS: Final = ("generated",)
SUBJECT: Final = "definition"
ORDER: Final = 40
IS_PER_SITE: Final = False
IS_ABOUT_MOVES: Final = False


def applies(spec: LanguageSpec) -> bool:
    return spec.renaming.generates_code


def find(asked: Question) -> Iterator[Problem]:
    """Definitions that code is generated from."""
    for place in sorted(asked.names.places):
        yield from _generating(asked.snapshot, place)


def _generating(snapshot: Snapshot, place: Place) -> Iterator[Problem]:
    facts = snapshot.require_facts(place.path)
    if facts.spec.renaming.generates_code:
        text = "Code is generated from this, and uses the name in other languages."
        yield Problem("generated", text, RepoPath(place.path), snapshot.definition(place).name_line)
