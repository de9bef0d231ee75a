"""Members are asked for by names made at run time: `getattr(x, f"on_{event}")`."""

from collections.abc import Iterator
from typing import Final

from codeplane.core.places import Place
from codeplane.languages.spec import LanguageSpec
from codeplane.names import Snapshot
from codeplane.refactor.plan import Problem
from codeplane.refactor.reflection.by_name import (
    asked_by_part,
    asked_member,
    asked_otherwise,
    is_put_together,
)
from codeplane.refactor.risk import Question

KINDS: Final = ("dynamic", "any_name", "spelled")
SUBJECT: Final = "member"
ORDER: Final = 110
IS_PER_SITE: Final = False
IS_ABOUT_MOVES: Final = False

_BY_PART: Final = "Members are searched for names that begin or end like this one."


def applies(spec: LanguageSpec) -> bool:
    del spec
    return True


def find(asked: Question) -> Iterator[Problem]:
    """Members that may be asked for so."""
    for place in sorted(asked.names.places):
        yield from _dynamic(asked.snapshot, place, asked.new)


def _dynamic(snapshot: Snapshot, place: Place, new: str) -> Iterator[Problem]:
    """Members that are asked for by names made at run time."""
    names = (snapshot.definition(place).name, new)
    found = asked_member(snapshot, place, names)
    is_made = found is not None and is_put_together(snapshot, found, names)
    if found is not None:
        text = "Members are looked up by names computed at run time."
        yield Problem("dynamic" if is_made else "any_name", text, found.path, found.line)
    if is_made:
        return
    if (part := asked_by_part(snapshot, place, names)) is not None:
        yield Problem("dynamic", _BY_PART, *part)
    elif (other := asked_otherwise(snapshot, place.path, names[:1])) is not None:
        text = f"`{other.text}` may be made a name that members are asked for by."
        yield Problem("spelled", text, other.path, other.line)
