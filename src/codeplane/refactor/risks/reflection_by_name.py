"""Members are asked for by names made at run time: `getattr(x, f"on_{event}")`."""

from collections.abc import Iterator

from codeplane.core.places import Place
from codeplane.names import Snapshot
from codeplane.refactor.plan import Problem
from codeplane.refactor.reflection.by_name import (
    SEARCHED_BY_PART,
    asked_by_part,
    asked_member,
    asked_otherwise,
    is_put_together,
)
from codeplane.refactor.risk import Question, risk


@risk(kinds=("dynamic", "any_name", "spelled"), subject="member", order=110)
def find(question: Question) -> Iterator[Problem]:
    """Members that may be asked for so."""
    for place in sorted(question.names.places):
        yield from _dynamic(question.snapshot, place, question.new)


def _dynamic(snapshot: Snapshot, place: Place, new: str) -> Iterator[Problem]:
    """Members that are asked for by names made at run time."""
    names = (snapshot.definition(place).name, new)
    lookup = asked_member(snapshot, place, names)
    is_made = lookup is not None and is_put_together(snapshot, lookup, names)
    if lookup is not None:
        text = "Members are looked up by names computed at run time."
        yield Problem("dynamic" if is_made else "any_name", text, lookup.path, lookup.line)
    if is_made:
        return
    if (part := asked_by_part(snapshot, place, names)) is not None:
        yield Problem("dynamic", SEARCHED_BY_PART, *part)
    elif (other := asked_otherwise(snapshot, place.path, names[:1])) is not None:
        text = f"`{other.text}` may be made a name that members are asked for by."
        yield Problem("spelled", text, other.path, other.line)
