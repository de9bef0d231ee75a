"""Where a name stands that means a definition, and where it may."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.proof import Tier
from codeplane.graph.places import definition_of
from codeplane.index import RefFact, Snapshot
from codeplane.languages import LanguageSpec, specs
from codeplane.languages.facts import Role
from codeplane.refactor.escape import is_reached_by_value
from codeplane.refactor.family import Family
from codeplane.refactor.plan import Group, Risk, Site

_KEYWORD: Final = "="
_CERTAIN: Final = (Tier.PROVEN, Tier.STRONG)
# Members that an argument of a call may give a value by name.
_GIVEN: Final = frozenset(("field", "variable", "constant", "property"))


@dataclass(frozen=True)
class Found:
    """The places that mean a family of definitions, and those of which that is not known."""

    sites: tuple[Site, ...]
    open: tuple[RefFact, ...]


def find(snapshot: Snapshot, family: Family, new: str) -> Found:
    """Every place that has to change with the name, and every one that may have to."""
    sites: dict[tuple[str, int, int], Site] = {}
    unsure: dict[tuple[str, int, int], RefFact] = {}
    for place in sorted(family.places):
        item = definition_of(snapshot, place)
        at = (place.path, item.name_line, item.name_column)
        sites[at] = Site(RepoPath(place.path), at[1], at[2], family.name, new, Tier.PROVEN, item.kind)
        for ref in snapshot.references.to(place):
            at = (ref.path, ref.line, ref.column)
            if place in ref.target and ref.tier in _CERTAIN:
                if ref.name == family.name:
                    sites[at] = _site(ref, new, ref.tier)
            else:
                unsure[at] = ref
    possible = _Possible(snapshot, family)
    left = []
    for at, ref in sorted(unsure.items()):
        if at in sites or not possible.may_mean(ref):
            continue
        # Members that override each other are renamed together, so it does not matter which one is meant.
        meant = snapshot.references.of_family(ref) if family.is_member and ref.receiver else ()
        if family.places.intersection(meant):
            sites[at] = _site(ref, new, Tier.STRONG)
        elif not meant:
            left.append(ref)
    return Found(tuple(sorted(sites.values())), tuple(left))


def _site(ref: RefFact, new: str, tier: Tier) -> Site:
    return Site(ref.path, ref.line, ref.column, ref.name, new, tier, ref.role.name.lower())


def grouped(snapshot: Snapshot, refs: tuple[RefFact, ...], family: Family, new: str) -> Iterator[Group]:
    """Open places by what stands before the name: those of one group have one answer."""
    groups: dict[tuple[str, str], list[RefFact]] = {}
    for ref in refs:
        unit = snapshot.linker.sources.unit_of(ref.path)
        groups.setdefault((unit, ref.receiver), []).append(ref)
    for (_, receiver), some in sorted(groups.items(), key=lambda one: (-len(one[1]), one[0])):
        sites = tuple(_site(ref, new, ref.tier) for ref in some)
        reasons, risk = _why(receiver)
        question = "receiver_resolution" if receiver else "scope_resolution"
        yield Group("", _about(receiver, family.name), sites, risk, reasons, question)


def _about(receiver: str, name: str) -> str:
    if receiver == _KEYWORD:
        return f"`{name}=` in arguments of calls"
    return f"`{receiver}.{name}`" if receiver else f"`{name}` that nothing around explains"


def _why(receiver: str) -> tuple[tuple[str, ...], Risk]:
    if receiver == _KEYWORD:
        return ("keyword_argument",), "medium"
    return (("receiver_not_proven",), "medium") if receiver else (("not_bound",), "high")


class _Possible:
    """Which of the places that are not proven may mean the family at all."""

    def __init__(self, snapshot: Snapshot, family: Family) -> None:
        self._snapshot = snapshot
        self._family = family
        self._is_reached: bool | None = None

    def may_mean(self, ref: RefFact) -> bool:
        if ref.role is Role.DEFINE:
            return False
        if ref.receiver == _KEYWORD:
            return self._family.is_member and self._family.kind in _GIVEN
        if self._family.is_member:
            return bool(ref.receiver) or _sees_members(self._spec(ref.path))
        return not ref.receiver or self._is_reached_by_value(ref)

    def _is_reached_by_value(self, ref: RefFact) -> bool:
        """A name behind a value of which nothing is known: it is meant only if that may be its module."""
        if not self._spec(ref.path).modules_are_values:
            return False
        if self._is_reached is None:
            self._is_reached = is_reached_by_value(self._snapshot, self._family)
        return self._is_reached

    def _spec(self, path: str) -> LanguageSpec:
        facts = self._snapshot.linker.sources.facts(path)
        assert facts is not None, "BUG: a file with references has facts"
        return specs()[facts.language]


def _sees_members(spec: LanguageSpec) -> bool:
    """Whether a name without a receiver may be a member."""
    return spec.implicit_self or spec.inherits_names or spec.members_visible == "nested"
