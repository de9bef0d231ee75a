"""Who calls whom, level by level, every edge with its tier."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.graph.hierarchy import is_class, overridden
from codeplane.graph.places import around
from codeplane.graph.possible_uses import Use
from codeplane.languages import specs
from codeplane.languages.facts import Role
from codeplane.names import RefFact, Snapshot

PROVED: Final = (Tier.PROVEN, Tier.STRONG)
_CALLS: Final = frozenset((Role.CALL,))
_ORDER: Final = {tier: number for number, tier in enumerate(Tier)}
_MOST_LINES: Final = 10


class Edge(NamedTuple):
    """One definition calls another; `via` is what the call names, where that is not the callee itself."""

    caller: Place
    callee: Place
    tier: Tier
    lines: tuple[int, ...]  # in the file of the caller
    via: Place | None = None


@dataclass(frozen=True)
class Node:
    """A definition, or a file where the call stands outside of any, with its edges to the level before."""

    place: Place
    edges: list[Edge]


@dataclass(frozen=True)
class Level:
    nodes: list[Node]
    more: int  # nodes beyond the limit


@dataclass
class Walk:
    """Levels of callers or callees.

    `unresolved` counts the calls that are not proven to be edges: of callers by tier, of callees as written.
    `possible` are those of them that may call the root.
    """

    levels: list[Level] = field(default_factory=list)
    unresolved: Counter[str] = field(default_factory=Counter)
    possible: list[Use] = field(default_factory=list)
    cut: bool = False


class Bounds(NamedTuple):
    depth: int
    per_level: int
    tiers: Collection[Tier] = PROVED
    follow_interface: bool = False
    whole_classes: bool = False  # all members of a class count, not only what makes its instances


def callers(snapshot: Snapshot, root: Place, bounds: Bounds) -> Walk:
    """The definitions that call one, those that call these, and so on."""
    return _walk(snapshot, root, bounds, _upwards)


def callees(snapshot: Snapshot, root: Place, bounds: Bounds) -> Walk:
    """The definitions that one calls, those that these call, and so on."""
    return _walk(snapshot, root, bounds, _downwards)


def interface_of(snapshot: Snapshot, place: Place) -> list[Place]:
    """The members of bases that calls may name and mean this one."""
    above = [one.place for one in overridden(snapshot, place) if one.place is not None]
    return list(dict.fromkeys((*above, *snapshot.interfaces.implemented_members(place))))


_Step = Callable[[Snapshot, Place, Bounds, Walk], Iterator[tuple[Place, Edge]]]


def _walk(snapshot: Snapshot, root: Place, bounds: Bounds, step: _Step) -> Walk:
    walk = Walk()
    purpose = snapshot.purpose
    level, places = [root], {root}
    for depth in range(bounds.depth):
        about = walk if not depth else Walk()
        edges_by_place: dict[Place, list[Edge]] = {}
        for place in level:
            for other, edge in step(snapshot, place, bounds._replace(whole_classes=not depth), about):
                edges_by_place.setdefault(other, []).append(edge)
        nodes = [Node(place, edges) for place, edges in edges_by_place.items() if place not in places]
        nodes.sort(key=lambda node: (_best(node), purpose(node.place.path), node.place))
        if not nodes:
            break
        walk.levels.append(Level(nodes[: bounds.per_level], max(0, len(nodes) - bounds.per_level)))
        walk.cut |= len(nodes) > bounds.per_level
        level = [node.place for node in nodes[: bounds.per_level] if node.place.definition >= 0]
        places.update(node.place for node in nodes)  # those that are left out are no farther away than this
    return walk


def _best(node: Node) -> int:
    return min(_ORDER[edge.tier] for edge in node.edges)


def _upwards(snapshot: Snapshot, place: Place, bounds: Bounds, walk: Walk) -> Iterator[tuple[Place, Edge]]:
    entries: set[tuple[str, int, int]] = set()
    ways = list(_ways_in(snapshot, place, bounds.follow_interface))
    has_open = any(via is not None and not is_class(snapshot, callee) for callee, via in ways)
    for callee, via in ways:
        is_open = via is not None and not is_class(snapshot, callee)
        calls: dict[tuple[Place, Tier], list[int]] = {}
        for ref in snapshot.references.to(callee):
            at = (ref.path, ref.line, ref.column)
            if ref.role is not Role.CALL or at in entries:
                continue
            if ref.tier in bounds.tiers or (is_open and ref.tier is Tier.ANCHORED):
                entries.add(at)
                # That a call of a base's member means this one is possible, not proven.
                tier = Tier.ANCHORED if is_open else ref.tier
                calls.setdefault((around(snapshot, ref), tier), []).append(ref.line)
            elif via is None and not (has_open and ref.tier is Tier.ANCHORED):
                walk.unresolved[ref.tier.value] += 1
                walk.possible.append(
                    Use(ref.path, ref.line, ref.receiver, ref.target[0] if ref.target else None)
                )
        for (caller, tier), lines in calls.items():
            yield caller, Edge(caller, place, tier, tuple(lines[:_MOST_LINES]), via)


def _ways_in(snapshot: Snapshot, place: Place, follow: bool) -> Iterator[tuple[Place, Place | None]]:
    """The definitions whose calls are calls of one: itself, its class where it makes instances, its bases."""
    yield place, None
    item = snapshot.definition(place).item
    if item.parent >= 0 and _is_initializer(snapshot, place):
        owner = Place(place.path, item.parent)
        if is_class(snapshot, owner):
            yield owner, owner
    if follow:
        for base in interface_of(snapshot, place):
            yield base, base


def _is_initializer(snapshot: Snapshot, place: Place) -> bool:
    definition = snapshot.definition(place)
    item = definition.item
    return item.kind == "constructor" or item.name in specs()[definition.language].initializers


def _downwards(snapshot: Snapshot, place: Place, bounds: Bounds, walk: Walk) -> Iterator[tuple[Place, Edge]]:
    calls: dict[tuple[Place, Tier], list[int]] = {}
    bodies = [place] if bounds.whole_classes else run_by(snapshot, place)
    for ref in (ref for body in bodies for ref in snapshot.references.within(body, _CALLS)):
        target = ref.target[0] if ref.target else None
        if target is None or target.definition < 0 or ref.tier not in bounds.tiers:
            walk.unresolved[_called(ref)] += 1
        elif target != place:
            calls.setdefault((target, ref.tier), []).append(ref.line)
    for (callee, tier), lines in calls.items():
        yield callee, Edge(place, callee, tier, tuple(lines[:_MOST_LINES]))


def run_by(snapshot: Snapshot, place: Place) -> list[Place]:
    """What runs when a definition is called: of a class, what makes its instances."""
    if not is_class(snapshot, place):
        return [place]
    facts = snapshot.require_facts(place.path)
    members = [
        Place(place.path, at) for at, item in enumerate(facts.definitions) if item.parent == place.definition
    ]
    return [member for member in members if _is_initializer(snapshot, member)]


def _called(ref: RefFact) -> str:
    """A call as it is written, as far as its receiver is plain."""
    if not ref.receiver:
        return ref.name
    return f"{ref.receiver}.{ref.name}" if len(ref.receiver) <= 40 else f"….{ref.name}"
