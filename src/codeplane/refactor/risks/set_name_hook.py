"""The value of a member is told the name that it is bound to: `__set_name__`."""

import re
from collections.abc import Iterator
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages import specs
from codeplane.languages.spec import LanguageSpec
from codeplane.names import Snapshot
from codeplane.names.meaning import known
from codeplane.refactor.plan import Problem
from codeplane.refactor.risk import Question
from codeplane.refactor.text import Lines

KINDS: Final = ("told",)
SUBJECT: Final = "member"
ORDER: Final = 100
IS_PER_SITE: Final = False
IS_ABOUT_MOVES: Final = False


def applies(spec: LanguageSpec) -> bool:
    return bool(spec.reflection.set_name_hook)


def find(asked: Question) -> Iterator[Problem]:
    """Members whose values are told their names."""
    for place in sorted(asked.names.places):
        yield from _told_by_value(asked.snapshot, place)


def _told_by_value(snapshot: Snapshot, place: Place) -> Iterator[Problem]:
    """Members whose values are told the names that they are bound to."""
    item, spec = snapshot.definition(place).item, specs()[snapshot.definition(place).language]
    line = (
        Lines(snapshot.source(RepoPath(place.path))).text(item.name_line)
        if spec.reflection.set_name_hook
        else ""
    )
    made = re.match(rf"\s*{re.escape(item.name)}\s*(?::[^=]+)?=\s*([\w.]+)\(", line)
    target = known(snapshot.written(place.path, item.scope, made[1])) if made else ()
    if target and known(snapshot.classes.member(target, spec.reflection.set_name_hook)):
        text = f"The value of {item.name} receives the name that it is bound to."
        yield Problem("told", text, RepoPath(place.path), item.name_line)
