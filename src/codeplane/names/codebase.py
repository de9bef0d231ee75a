"""The code of one state of the files: what each file says, and what its names mean."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, TypeVar

from codeplane.core.errors import NotFound
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.slots import CarriedSlot, ContentSlot, EpochSlot, InterfaceSlot
from codeplane.index.store import Change
from codeplane.index.view.dynamics import Dynamics
from codeplane.index.view.files import FileFacts
from codeplane.index.view.layout import Layout
from codeplane.index.view.purpose import Purpose, Purposes
from codeplane.index.view.semantics import Semantics
from codeplane.index.view.view import View
from codeplane.jail import shown
from codeplane.languages.facts import Import, Occurrence, Occurrences
from codeplane.languages.modules import WholeSources, module_rules
from codeplane.names.classes import Classes
from codeplane.names.definition import Def
from codeplane.names.freshness import SemanticLevel, SemanticStates
from codeplane.names.identity import Identities
from codeplane.names.implementations import Implementations
from codeplane.names.imports import ImportResolver
from codeplane.names.inference.receiver import Receivers
from codeplane.names.interfaces import Interfaces
from codeplane.names.meaning import AMBIGUOUS, Meaning, Target
from codeplane.names.providers.semantic import SemanticProvider
from codeplane.names.references import References
from codeplane.names.resolve import Resolver

K = TypeVar("K")
V = TypeVar("V")

_NO_CONTENTS: Final[Mapping[RepoPath, bytes]] = MappingProxyType({})


class Codebase:
    """Everything that can be asked about the code of one state, whether it is on disk or not."""

    def __init__(self, links: Callable[[], ImportResolver]) -> None:
        self._links = links

    @cached_property
    def _resolver(self) -> ImportResolver:
        return self._links()

    @cached_property
    def _view(self) -> View:
        return self._resolver.sources

    # Files

    def facts(self, path: str) -> FileFacts | None:
        """Everything that a file says; None for one that is not parsed, or in no language."""
        return self._view.own_facts(path)

    def require_facts(self, path: str) -> FileFacts:
        """The facts of a file that is known to have some: it has definitions, imports or references."""
        return self._view.require_own_facts(path)

    def facts_of(self, blob: int) -> FileFacts | None:
        """Everything that a content says, whichever state it is in; None for one without a language."""
        return self._view.facts_of(blob)

    def without_sites(self, blobs: Collection[int]) -> set[int]:
        """The contents whose sites are not kept."""
        return self._view.without_sites(blobs)

    def forget_derived(self, slot: ContentSlot[Any]) -> None:
        """Drops what was made of all contents for a slot; it can be made again."""
        self._view.forget_derived(slot)

    def kept_sites(self, blob: int) -> bytes | None:
        """The packed sites of a content where they are kept; None where they have to be read."""
        return self._view.kept_sites(blob)

    def has_blob(self, blob: int) -> bool:
        """Whether the facts of a content are still on record."""
        return self._view.has_blob(blob)

    @property
    def layout(self) -> Layout:
        """Which files there are, by directory and by name, and the content of each."""
        return self._view.memo.layout

    def exists(self, path: str) -> bool:
        """Whether there is such a file."""
        return self._view.exists(path)

    def is_directory(self, path: str) -> bool:
        """Whether there are files below a path; "" is the root."""
        return self._view.is_directory(path)

    def names_in(self, directory: str) -> Sequence[str]:
        """The names of the files directly in a directory, in order."""
        return self._view.names_in(directory)

    def paths_named(self, name: str) -> Sequence[RepoPath]:
        """All files with this name in any directory, in order."""
        return self._view.paths_named(name)

    def read(self, path: str) -> bytes | None:
        """The bytes of a small file such as a manifest; None when there is none or it is over 1 MB."""
        return self._view.read(path)

    def source(self, path: RepoPath) -> bytes:
        """The bytes of a file in this state; `NotFound` where it has none."""
        data = self._view.content(path)
        if data is None:
            raise NotFound(f"There is no file {shown(path)} in this state.", path=shown(path))
        return data

    def tests(self) -> frozenset[RepoPath]:
        """The files that define tests, by the conventions of their language."""
        return self._view.tests()

    @property
    def purposes(self) -> Purposes:
        """What the files are for."""
        return self._view.purposes

    def purpose(self, path: str) -> Purpose:
        """What a file is for."""
        return self._view.purposes.of(path)

    def unit_of(self, path: str) -> str:
        """The language family of a file, `:`, and the root of the context that owns it, if any does."""
        return self._view.unit_of(path)

    # Occurrences and words

    def occurrences(self, path: str, name: str) -> list[Occurrence]:
        """The occurrences of a name in one file."""
        return list(self.all_occurrences(path).named(name))

    def occurrence_at(self, path: str, line: int, column: int) -> tuple[str, Occurrence] | None:
        """The name that begins at a position of a file, and its occurrence."""
        occurrences = self.all_occurrences(path)
        return occurrences.standing(line, column) if occurrences else None

    def occurrences_inside(self, path: str) -> Iterator[tuple[str, Occurrence]]:
        """All names of a file with their occurrences."""
        return self.all_occurrences(path).all()

    def all_occurrences(self, path: str) -> Occurrences:
        """The occurrences of all names in a file, column by column."""
        facts = self._view.own_facts(path)
        return self._view.occurrences_of(facts) if facts is not None else Occurrences()

    def starts(self, path: str, name: str) -> list[int]:
        """The bytes that the occurrences of a name in one file begin with."""
        return self.all_occurrences(path).starts_of(name)

    def paths_with(self, name: str) -> list[RepoPath]:
        """The files that may hold a name, in order."""
        return self._view.paths_with(name)

    def paths_with_any(self, words: Sequence[str]) -> set[RepoPath]:
        """The files that hold one of some words."""
        return self._view.paths_with_any(words)

    def paths_with_beginning(self, text: str) -> list[RepoPath]:
        """The files that hold a word with a beginning, whatever the case of its letters."""
        return self._view.paths_with_beginning(text)

    @property
    def dynamics(self) -> Dynamics:
        """Where names are made at run time."""
        return self._view.dynamics

    # Definitions

    def definition(self, place: Place) -> Def:
        """A definition with its file; it has to be there."""
        facts = self.require_facts(place.path)
        return Def(place, facts, facts.definitions[place.definition])

    def definitions(self, name: str) -> list[Place]:
        """The definitions of a name, in order of path and position."""
        return self._view.definitions(name)

    def defined_with(self, part: str, paths: Set[str]) -> list[tuple[str, str]]:
        """The files among `paths` that define names with a part, in letters of any case, with these names."""
        return self._view.defined_with(part, paths)

    def owned(self, name: str) -> Sequence[Place]:
        """The definitions that say that they belong to a type of this name; it may be qualified."""
        return self._view.owned(name)

    def extending(self, name: str) -> Sequence[Place]:
        """The definitions that write a name as that of a base, alone or as the last part."""
        return self._view.extending(name)

    def held(self, name: str) -> list[tuple[Place, str]]:
        """What the definitions of a name stand in, in order of path and position, with its kind."""
        return self._view.held(name)

    def holders(self, name: str) -> list[Target]:
        """The classes that define a member of this name."""
        return self._resolver.holders(name)

    def definition_kind(self, place: Place) -> str:
        """The kind of a definition; "" for a file."""
        return self._resolver.definition_kind(place)

    def grouped(self, place: Place) -> Target:
        """A definition with those that only add to it."""
        return self._resolver.grouped(place)

    def are_one(self, places: Sequence[Place]) -> bool:
        """Whether several definitions of one name are one thing: a namespace, a reopened class."""
        return self._resolver.single([(place,) for place in places]) != AMBIGUOUS

    def owner(self, path: str, facts: FileFacts, at: int) -> Target:
        """The type that a definition says it belongs to: the receiver of a method in Go."""
        return self._resolver.around.owner(RepoPath(path), facts, at)

    @property
    def classes(self) -> Classes:
        """Bases, members and method resolution orders."""
        return self._resolver.classes

    def module_name(self, path: str) -> str:
        """The module that a file is, as its language names it; the path where it has no such name."""
        return self.identities.module(RepoPath(path))

    def qualified(self, place: Place) -> str:
        """The module, the definitions around and the name, with dots between."""
        return self.identities.qualified(place)

    @cached_property
    def identities(self) -> Identities:
        """Qualified names and uids."""
        return Identities(self._resolver)

    # Imports

    def imports(self, path: str) -> Sequence[Import]:
        """The imports of a file."""
        return self._view.import_statements(path)

    def imported(self, path: str, at: int) -> Target:
        """What an import of a file brings; for a star import, the module."""
        return self._resolver.imported(RepoPath(path), at)

    def importing(self, parts: Set[str]) -> set[RepoPath]:
        """The files with an import of one of the names, or from a module that has one among its parts."""
        return self._view.importing(parts)

    def starring(self, parts: Set[str]) -> set[RepoPath]:
        """The files that import all names of a module that has one of the names among its parts."""
        return self._view.starring(parts)

    def module(self, path: str, text: str) -> Target:
        """The module that a dotted name in an import statement of a file means."""
        return self._resolver.module(RepoPath(path), text)

    def named_module(self, path: str, module: str, kind: str) -> Target:
        """The module that import statements of a kind mean by a source."""
        return self._resolver.named_module(RepoPath(path), module, kind)

    def module_places(self, path: str, item: Import) -> Sequence[Place]:
        """What the module of an import means by the rules of the language alone."""
        facts = self._view.facts(path)
        rules = module_rules(facts.language) if facts is not None else None
        return rules.places(self._view, path, item) if rules is not None else ()

    @property
    def rule_sources(self) -> WholeSources:
        """The files as the module rules of languages see them."""
        return self._view

    # Meanings

    def meaning(self, path: str, name: str, occurrence: Occurrence) -> Meaning:
        """What one occurrence of a name means, and how far that is proven."""
        return self._meanings.meaning(RepoPath(path), name, occurrence)

    def structural_meaning(self, path: str, name: str, occurrence: Occurrence) -> Meaning:
        """What one occurrence of a name means by the structure of the code alone."""
        return self._meanings.structural(RepoPath(path), name, occurrence)

    @cached_property
    def _meanings(self) -> Resolver:
        return Resolver.of_links(self._resolver)

    def written(self, path: str, scope: int, text: str) -> Target:
        """What a dotted name means in a scope of a file."""
        return self._resolver.written(RepoPath(path), scope, text)

    def followed(self, path: str, item: Import) -> Target:
        """What the module of an import means where that is a path of names, each in the one before."""
        return self._resolver.followed(RepoPath(path), item)

    def member_of(self, places: Target, name: str) -> Target:
        """What a name means inside a module, package or class, seen from outside."""
        return self._resolver.lookup(places, name)

    def outward(self, facts: FileFacts, scope: int) -> Iterator[int]:
        """The scopes that a name is looked up in, inner ones first."""
        return self._resolver.outward(facts, scope)

    def binding_at(self, facts: FileFacts, scope: int, name: str) -> int | None:
        """The bind that a name means in a scope of a file; -1 where there are several, None where none is."""
        return self._resolver.binding_at(facts, scope, name)

    @cached_property
    def references(self) -> References:
        """References to definitions, and occurrences of names with what they mean."""
        return References(self._resolver)

    @cached_property
    def structural_references(self) -> References:
        """References by the structure of the code alone, whatever indexers say."""
        return References(self._resolver, structural=True)

    @cached_property
    def semantic_states(self) -> SemanticStates:
        """Whether what indexers have said about files still holds."""
        return SemanticStates(self._resolver)

    @cached_property
    def interfaces(self) -> Interfaces:
        """Interfaces that types implement without naming them, and what implements them."""
        return Interfaces(self._resolver, Implementations(self._resolver))

    def semantic_level_used(self) -> SemanticLevel | None:
        """How far indexers cover the files, where names were asked about; None where no indexer has run."""
        is_asked = "_view" in self.__dict__
        return self.semantic_states.level() if is_asked and not self.semantics.is_empty else None

    def divergence(self, path: RepoPath, line: int, column: int) -> tuple[str, ...]:
        """The build contexts whose indexers say different things of a token; none where they agree."""
        return self._indexers.divergence(path, line, column) if self._indexers is not None else ()

    def ambiguity(self, path: RepoPath, line: int, column: int) -> tuple[str, ...]:
        """Why indexers leave a token open that means one of several definitions to them."""
        return self._indexers.ambiguity(path, line, column) if self._indexers is not None else ()

    @cached_property
    def _indexers(self) -> SemanticProvider | None:
        return SemanticProvider.of_links(self._resolver)

    @property
    def semantics(self) -> Semantics:
        """What indexers have said, and when."""
        return self._view.semantics

    @cached_property
    def receivers(self) -> Receivers:
        """The classes that `self`, `this` and their like stand for."""
        return Receivers(self._resolver)

    # Answers that are kept

    def once(self, slot: InterfaceSlot[K, V] | EpochSlot[K, V], key: K, find: Callable[[], V]) -> V:
        """What follows from this state alone, worked out once."""
        return self._view.memo.once(slot, key, find)

    def answers(self, slot: InterfaceSlot[K, V] | EpochSlot[K, V]) -> dict[K, V]:
        """The answers of one kind that follow from this state, to be read and filled."""
        return self._view.memo.table(slot)

    def carried(
        self, slot: CarriedSlot[V], find: Callable[[], V], renew: Callable[[V, Sequence[Change]], V | None]
    ) -> V:
        """An answer that outlives changes: `renew` brings an older one up to date, or gives None where only
        `find` can."""
        return self._view.memo.carried(slot, find, renew)

    def overlaid(
        self,
        blobs: Mapping[str, int | None],
        without: Collection[str] = frozenset(),
        contents: Mapping[RepoPath, bytes] = _NO_CONTENTS,
    ) -> "Codebase":
        """The code with other contents under some paths, and some paths less. Nothing is written."""
        view = self._view.overlaid(blobs, frozenset(without), contents)
        return Codebase(lambda: ImportResolver(view))
