"""The references to a definition, under every name that it goes by."""

from collections.abc import Container, Iterator
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.core.slots import InterfaceSlot
from codeplane.index.view.files import FileFacts
from codeplane.languages.facts import Occurrence, Occurrences, Role, ScopeKind
from codeplane.names.implementations import Implementations
from codeplane.names.imports import ImportResolver
from codeplane.names.interfaces import Interfaces
from codeplane.names.meaning import STRUCTURE, UNRESOLVED, Meaning, Target
from codeplane.names.resolve import Resolver

_MOST_NAMES: Final = 50
_DISPATCH: Final = InterfaceSlot[tuple[RepoPath, int | None, int, int], bool](
    "a reference may mean an override"
)
_CONFIRMED: Final = InterfaceSlot[tuple[str, int | None, str], tuple["RefFact", ...]](
    "references to a name in a file by all sources"
)
_MOST_KEPT: Final = 200_000


class RefFact(NamedTuple):
    path: RepoPath
    name: str
    line: int
    column: int
    role: Role
    scope: int
    tier: Tier
    receiver: str
    # What it means, where that is a definition or a file. Several places are one thing.
    target: Target
    evidence: str = STRUCTURE  # what says so


class References:
    """References in one view, each with its tier. With `structural`, by the structure of the code alone."""

    def __init__(self, linker: ImportResolver, *, structural: bool = False) -> None:
        self._linker = linker
        self._sources = linker.sources
        self._resolver = Resolver.of_links(linker)
        self._is_structural = structural
        self._has_others = self._resolver.has_other_sources and not structural
        self._interfaces = Interfaces(linker, Implementations(linker))
        self._exact: Resolver | None = None  # made on first use

    def named(self, name: str) -> Iterator[RefFact]:
        """Every occurrence of a name that is not a definition of it, in order of path and position."""
        for path in self._sources.paths_with(name):
            yield from self.named_in(path, name)

    def named_in(self, path: RepoPath, name: str) -> tuple[RefFact, ...]:
        """The occurrences of a name in one file that are not definitions of it.

        They are kept as long as the content and what is known of other files stand.
        """
        memo = self._sources.memo
        key = (path, memo.layout.blobs[path], name)
        facts = memo.meanings.get(key)
        if facts is None:
            facts = tuple(
                self._structural(path, name, occurrence)
                for occurrence in self._occurrences(path).named(name)
                if occurrence.role is not Role.DEFINE
            )
            if memo.meant > _MOST_KEPT:
                memo.meanings.clear()
                memo.meant = 0
            memo.meanings[key] = facts
            memo.meant += len(facts)
        if not self._has_others:
            return facts
        return self._sources.once(_CONFIRMED, key, lambda: tuple(map(self._confirmed, facts)))

    def inside(self, path: RepoPath) -> Iterator[RefFact]:
        """Every occurrence in one file, in order of position."""
        by_position = [
            (occurrence.line, occurrence.column, name, occurrence)
            for name, occurrence in self._occurrences(path).all()
        ]
        for _, _, name, occurrence in sorted(by_position):
            yield self._fact(path, name, occurrence)

    def within(self, place: Place, roles: Container[Role]) -> Iterator[RefFact]:
        """The occurrences of some roles in the body of a definition, in order of position."""
        facts = self._sources.own_facts(place.path)
        body = facts.definitions[place.definition].body if facts is not None else -1
        if facts is None or body < 0:
            return
        scopes = {body}
        for at in range(body + 1, len(facts.scopes)):  # parents come before children
            if facts.scopes.parent(at) in scopes:
                scopes.add(at)
        for name, occurrence in self._sources.occurrences_of(facts).within(scopes):
            if occurrence.role in roles:
                yield self._fact(place.path, name, occurrence)

    def to(self, place: Place) -> Iterator[RefFact]:
        """References to a definition, and those by its name that are not known to mean something else.

        A reference to a member of a base or an interface that may be dispatched to this one is anchored here;
        by structure alone, only one to that of a base.
        """
        yield from sorted(self.each(place), key=lambda ref: (ref.path, ref.line, ref.column))

    def each(self, place: Place) -> Iterator[RefFact]:
        """References to a definition as they are found, its own file first: some can be had before all."""
        facts = self._sources.facts(place.path)
        if facts is None:
            return
        item = facts.definitions[place.definition]
        family = facts.spec.family
        seen_in = self._seen_in(place)
        above = set(self._linker.classes.overridden(place))
        interface_members = set() if self._is_structural else set(self._interfaces.implemented_members(place))
        for name in self.names(place):
            for path in sorted(self._sources.paths_with(name), key=lambda path: path != place.path):
                for ref in self.named_in(path, name):
                    is_open = ref.tier in (Tier.ANCHORED, Tier.UNKNOWN) and name == item.name
                    if is_open and seen_in is not None:
                        is_open = ref.path == place.path and ref.scope in seen_in and not ref.receiver
                    if place in ref.target or (is_open and self._is_of(ref.path, family)):
                        yield ref
                    elif (above and not above.isdisjoint(ref.target) and self.may_dispatch(ref)) or (
                        interface_members and ref.receiver and not interface_members.isdisjoint(ref.target)
                    ):
                        yield ref._replace(tier=Tier.ANCHORED)

    def may_dispatch(self, ref: RefFact) -> bool:
        """Whether a reference to a member may mean one that overrides it: its receiver is a value whose class
        may be a derived one."""
        if not ref.receiver or not ref.target:
            return False
        key = (ref.path, self._sources.memo.layout.blobs[ref.path], ref.line, ref.column)
        return self._sources.once(_DISPATCH, key, lambda: self._find_exact(ref) != ref.target)

    def _find_exact(self, ref: RefFact) -> Target:
        self._exact = self._exact or Resolver.of_links(self._linker, exact=True)
        standing = self._occurrences(ref.path).standing(ref.line, ref.column)
        return self._exact.meaning(ref.path, ref.name, standing[1]).target if standing else UNRESOLVED

    def names(self, place: Place) -> list[str]:
        """The names that a definition goes by: its own, and those that imports and exports give it."""
        facts = self._sources.facts(place.path)
        if facts is None:
            return []
        names = [facts.definitions[place.definition].name]
        for name in names:
            for other in self._other_names(place, name):
                if other not in names and len(names) < _MOST_NAMES:
                    names.append(other)
        return names

    def _other_names(self, place: Place, name: str) -> Iterator[str]:
        for path, at in self._sources.renaming_imports(name):
            facts = self._sources.facts(path)
            if facts is not None and place in self._linker.imported(path, at):
                yield facts.imports[at].alias
        for path, export_name in self._sources.renaming_exports(name):
            if place in self._linker.lookup((Place(path),), export_name):
                yield export_name

    def _seen_in(self, place: Place) -> Container[int] | None:
        """The scopes of its file that alone can see a definition inside of a function; None for all others.

        What the file gives to a property under the same name may be reached from anywhere.
        """
        facts = self._sources.own_facts(place.path)
        scopes = set(facts.binding_scopes.get(place.definition, ())) if facts is not None else set()
        if facts is None or facts.spec.scopes.functions_escape or len(scopes) != 1:
            return None
        if not _is_local(facts, min(scopes)):
            return None
        name = facts.definitions[place.definition].name
        for occurrence in self._sources.occurrences_of(facts).named(name):
            if occurrence.role is Role.EXPORT or (occurrence.role is Role.WRITE and occurrence.receiver):
                return None
        for at in range(min(scopes) + 1, len(facts.scopes)):  # parents come before children
            if facts.scopes.parent(at) in scopes:
                scopes.add(at)
        return scopes

    def _occurrences(self, path: RepoPath) -> Occurrences:
        facts = self._sources.own_facts(path)
        return self._sources.occurrences_of(facts) if facts is not None else Occurrences()

    def _is_of(self, path: RepoPath, family: str) -> bool:
        facts = self._sources.facts(path)
        return facts is not None and facts.spec.family == family

    def _fact(self, path: RepoPath, name: str, seen: Occurrence) -> RefFact:
        structural = self._structural(path, name, seen)
        return self._confirmed(structural) if self._has_others else structural

    def _structural(self, path: RepoPath, name: str, seen: Occurrence) -> RefFact:
        facts = self._sources.require_own_facts(path)
        meaning = self._resolver.structural(path, name, seen)
        receiver = facts.receivers[seen.receiver - 1] if seen.receiver else ""
        return RefFact(
            path, name, seen.line, seen.column, seen.role, seen.scope, meaning.tier,
            receiver, meaning.target,
        )  # fmt: skip

    def _confirmed(self, ref: RefFact) -> RefFact:
        """A reference as all sources see it, given as the structure of the code does."""
        occurrence = Occurrence(ref.line, ref.column, ref.role, ref.scope, 0, int(bool(ref.receiver)))
        structural = Meaning(ref.tier, ref.target)
        meaning = self._resolver.confirmed(ref.path, ref.name, occurrence, structural)
        return ref if meaning is structural else ref._replace(**meaning._asdict())


def _is_local(facts: FileFacts, scope: int) -> bool:
    """Whether a scope is that of a function, or a block inside of one."""
    while scope >= 0:
        kind = facts.scopes.kind(scope)
        if kind in (ScopeKind.FUNCTION, ScopeKind.ARROW):
            return True
        if kind is not ScopeKind.BLOCK:
            return False
        scope = facts.scopes.parent(scope)
    return False
