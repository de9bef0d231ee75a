"""The references to a definition, each with what it does, how far it is proven and where it stands."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple, TypeVar

from codeplane.core.kinds import CLASSES
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Absence, Tier
from codeplane.graph.hierarchy import INTERFACES, dispatch_targets, overriding
from codeplane.graph.places import around, place_of
from codeplane.graph.possible_uses import Use, why_open
from codeplane.languages import has_references
from codeplane.languages.facts import FLAG_ABSTRACT, Role
from codeplane.names import DefFact, RefFact, Snapshot
from codeplane.names.meaning import STRUCTURE

T = TypeVar("T")


class Kind(StrEnum):
    """What a reference does."""

    CALL = "call"
    INSTANTIATE = "instantiate"
    READ = "read"
    WRITE = "write"
    TYPE = "type"
    IMPORT = "import"
    EXPORT = "export"
    OVERRIDE = "override"
    IMPLEMENT = "implement"


_KINDS: Final = {
    Role.CALL: Kind.CALL,
    Role.READ: Kind.READ,
    Role.WRITE: Kind.WRITE,
    Role.TYPE: Kind.TYPE,
    Role.IMPORT: Kind.IMPORT,
    Role.EXPORT: Kind.EXPORT,
}
_RANK: Final = {Tier.PROVEN: 0, Tier.STRONG: 0, Tier.ANCHORED: 1, Tier.UNKNOWN: 2}


class Reference(NamedTuple):
    path: RepoPath
    line: int
    column: int
    kind: Kind
    tier: Tier
    around: Place  # the definition that it stands in, or the file
    receiver: str
    via: Place | None = None  # the member of a base that it names, where it may mean one that overrides it
    evidence: str = STRUCTURE  # what says so


@dataclass(frozen=True)
class References:
    """All references that were asked for, certain ones first, and how many there are of each sort."""

    items: Sequence[Reference]
    tiers: dict[Tier, int]
    kinds: dict[Kind, int]
    absence: Absence | None

    @property
    def by_indexer(self) -> dict[str, int]:
        """Indexer → how many certain references it alone says."""
        sure = (one for one in self.items if _RANK[one.tier] == 0 and one.evidence != STRUCTURE)
        return dict(Counter(one.evidence for one in sure).most_common())


def references_to(
    snapshot: Snapshot,
    definition: DefFact,
    kinds: Collection[Kind] = (),
    tiers: Collection[Tier] = (),
    below: str = "",
) -> References:
    """The references to a definition; certain ones first, source before tests, in order of path and line."""
    references = [
        one
        for one in (*_written(snapshot, definition), *_replacing_references(snapshot, definition))
        if (not kinds or one.kind in kinds) and (not tiers or one.tier in tiers) and is_below(one.path, below)
    ]
    purpose = snapshot.purpose
    references.sort(key=lambda one: (_RANK[one.tier], purpose(one.path), one.path, one.line, one.column))
    return References(
        references,
        _counted(Counter(one.tier for one in references), Tier),
        _counted(Counter(one.kind for one in references), Kind),
        None if references else _why_none(snapshot, definition),
    )


def _why_none(snapshot: Snapshot, definition: DefFact) -> Absence:
    facts = snapshot.require_facts(definition.path)
    if not has_references(facts.language):
        return Absence.LANGUAGE_GAP
    return snapshot.why_none(definition.name)


def use_of(one: Reference) -> Use:
    """A reference that is not certain, as one that may mean the definition."""
    return Use(one.path, one.line, one.receiver, one.via)


def why_possible(snapshot: Snapshot, one: Reference) -> str:
    """Why a reference is not certain."""
    if one.kind is Kind.IMPLEMENT:
        return "its type has all members of the interface"
    return why_open(snapshot, use_of(one))


def is_below(path: str, directory: str) -> bool:
    """Whether a path is a file or in a directory; "" is the whole repository."""
    above = directory.strip("/").removeprefix("./")
    return above in ("", ".") or path == above or path.startswith(f"{above}/")


def kind_of(ref: RefFact, definition_kind: str) -> Kind:
    """What a reference to a definition of a kind does."""
    if ref.role is Role.CALL and definition_kind in CLASSES:
        return Kind.INSTANTIATE
    return _KINDS.get(ref.role, Kind.READ)


def _written(snapshot: Snapshot, definition: DefFact) -> Iterator[Reference]:
    places: dict[tuple[str, int], Place] = {}
    for ref in snapshot.references.to(place_of(definition)):
        scope = (ref.path, ref.scope)
        where = places.get(scope) or places.setdefault(scope, around(snapshot, ref))
        kind = kind_of(ref, definition.kind)
        via = ref.target[0] if ref.tier is Tier.ANCHORED and ref.target else None
        yield Reference(
            ref.path, ref.line, ref.column, kind, ref.tier, where, ref.receiver, via, ref.evidence
        )


def _replacing_references(snapshot: Snapshot, definition: DefFact) -> Iterator[Reference]:
    """Members that override a member, or implement one that has no body."""
    place = place_of(definition)
    below = {one.place for one in overriding(snapshot, place)}
    for place_there, tier, evidence in dispatch_targets(snapshot, place):
        item = snapshot.definition(place_there).item
        is_override = place_there in below and not _is_abstract(snapshot, place)
        kind = Kind.OVERRIDE if is_override else Kind.IMPLEMENT
        at = (place_there.path, item.name_line, item.name_column)
        yield Reference(*at, kind, tier, place_there, "", None, evidence)


def _is_abstract(snapshot: Snapshot, place: Place) -> bool:
    item = snapshot.definition(place).item
    owner = snapshot.definition(Place(place.path, item.parent)).item
    return bool(item.flags & FLAG_ABSTRACT) or (owner.kind in INTERFACES and item.body < 0)


def _counted(counts: "Counter[T]", names: Iterable[T]) -> dict[T, int]:
    return {name: counts[name] for name in names if counts[name]}
