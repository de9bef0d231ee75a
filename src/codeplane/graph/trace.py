"""What runs when a definition runs: the calls in it, the calls in these, as an annotated tree."""

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.graph.calls import calls_in
from codeplane.graph.hierarchy import dispatch_targets, owner_is_silent
from codeplane.graph.places import flags_of
from codeplane.languages.facts import FLAG_ABSTRACT, FLAG_ASYNC, FLAG_TEST
from codeplane.names import Snapshot

_NOTED: Final = {FLAG_ASYNC: "async", FLAG_ABSTRACT: "abstract", FLAG_TEST: "test"}
_MOST_OUTSIDE: Final = 4


class TraceNode(NamedTuple):
    """A definition on the way, with the line of the call that leads to it."""

    place: Place
    depth: int
    tier: Tier | None  # None for the entry point
    line: int
    notes: tuple[str, ...]


@dataclass
class Trace:
    """Nodes in the order in which a reader follows them: each before what it calls."""

    nodes: list[TraceNode] = field(default_factory=list)
    truncated: bool = False


def trace(snapshot: Snapshot, entry: Place, depth: int, limit: int) -> Trace:
    """The call tree below an entry point. What was followed before is named, not followed again."""
    result = Trace()
    places: set[Place] = set()
    waiting: list[tuple[Place, int, Tier | None, int]] = [(entry, 0, None, 0)]
    while waiting:
        place, level, tier, line = waiting.pop()
        if len(result.nodes) >= limit:
            result.truncated = True
            return result
        notes = _notes(snapshot, place)
        if place in places:
            result.nodes.append(TraceNode(place, level, tier, line, (*notes, "followed above")))
            continue
        places.add(place)
        edges, counts = calls_in(snapshot, place)
        if level < depth:
            waiting += [(edge.callee, level + 1, edge.tier, edge.lines[0]) for edge in reversed(edges)]
        elif edges:
            notes = (*notes, f"{len(edges)} further calls")
        if counts:
            names = ", ".join(name for name, _ in counts.most_common(_MOST_OUTSIDE))
            more = len(counts) - _MOST_OUTSIDE
            notes = (*notes, f"also {names}" + (f" and {more} more" if more > 0 else ""))
        result.nodes.append(TraceNode(place, level, tier, line, notes))
    return result


def _notes(snapshot: Snapshot, place: Place) -> tuple[str, ...]:
    item = snapshot.definition(place).item
    flags = flags_of(snapshot, place)
    notes = [name for flag, name in _NOTED.items() if flags & flag]
    if count := len(dispatch_targets(snapshot, place)) if item.parent >= 0 else 0:
        word = "implementation" if owner_is_silent(snapshot, place) else "override"
        notes.append(f"{count} {word}{'s' if count > 1 else ''}")
    return tuple(notes)
