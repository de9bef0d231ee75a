"""What one file may read of another, as readers get it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypeVar

from codeplane.core.kinds import CLASSES, split_path
from codeplane.core.slots import ContentSlot
from codeplane.languages import LanguageSpec, specs
from codeplane.languages.facts import FLAG_MORE, Reason, ScopeKind, full_names, places
from codeplane.languages.foreign import ForeignBind, ForeignDefinition, ForeignExport, ForeignImport

T = TypeVar("T")


class ForeignScopes(Protocol):
    """The scopes of another file."""

    def parent(self, at: int, /) -> int: ...
    def kind(self, at: int, /) -> ScopeKind: ...


class ForeignBinds(Protocol):
    """The binds of another file. Those in bodies are among them, for who stands in such a body."""

    @property
    def names(self) -> list[str]: ...
    def of(self, reason: Reason, /) -> list[int]: ...
    def scope(self, at: int, /) -> int: ...
    def target(self, at: int, /) -> int: ...
    def __getitem__(self, at: int, /) -> ForeignBind: ...


class ForeignDefinitions(Protocol):
    """The definitions of another file, in order."""

    @property
    def names(self) -> list[str]: ...
    @property
    def bodies(self) -> list[int]: ...
    def kind(self, at: int, /) -> str: ...
    def parent(self, at: int, /) -> int: ...
    def flags(self, at: int, /) -> int: ...
    def having(self, flag: int, /) -> list[int]: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[ForeignDefinition]: ...
    def __getitem__(self, at: int, /) -> ForeignDefinition: ...


class ForeignFile:
    """A file as other files see it: what the digest of its interface covers, and nothing else.

    The columns are fields of `ForeignFacts`, by name; all else here is made of them. `FileFacts` has
    everything that a file says, and is for who resolves names of that very file.
    """

    __slots__ = ()

    language: str
    state: str
    package: str
    blob: int  # for keys of answers

    if TYPE_CHECKING:

        @property
        def scopes(self) -> ForeignScopes: ...
        @property
        def definitions(self) -> ForeignDefinitions: ...
        @property
        def imports(self) -> Sequence[ForeignImport]: ...
        @property
        def exports(self) -> Sequence[ForeignExport]: ...
        @property
        def binds(self) -> ForeignBinds: ...
        @property
        def parameters(self) -> Mapping[int, tuple[str, ...]]:
            """Scope → the names of its parameters in order."""

        @property
        def deeper(self) -> frozenset[int]:
            """The definitions with a body that stand deeper than something beside them."""

        @property
        def reserved_widths(self) -> Mapping[int, int]:
            """Members such as `__slots__`, and the columns that each takes."""

        def derived(self, slot: ContentSlot[T], make: Callable[[], T]) -> T:
            """What is made of what is seen of the file, made once."""

        @property
        def type_tests(self) -> Mapping[str, list[str]]:
            """Receiver → what the code asks whether it is."""

    @cached_property
    def spec(self) -> LanguageSpec:
        """The language of the file."""
        return specs()[self.language]

    @cached_property
    def _bind_names(self) -> list[str]:
        """The name of each bind, the name space in front of it where that is not the ordinary one."""
        names = self.binds.names
        for at in self.binds.of(Reason.DEF_IN_SCOPE) if self._apart else ():
            names[at] = self._name_key(self.definitions[self.binds.target(at)])
        return names

    @cached_property
    def _first_binds(self) -> dict[str, int]:
        """Name → the first bind of it."""
        return first_places(self._bind_names)

    def bound(self, scope: int, name: str) -> int | None:
        """The bind of a name in a scope; -1 where there are several that differ."""
        first = self._first_binds.get(name)
        if first is None:
            return None
        positions = [at for at in places(self._bind_names, name, first) if self.binds.scope(at) == scope]
        if len(positions) < 2:
            return positions[0] if positions else None
        # The same bind may be there once more for places where a base class may hide it.
        distinct = {_meant_by(self.binds[at]) for at in positions}
        return positions[0] if len(distinct) == 1 else -1

    @cached_property
    def binding_scopes(self) -> dict[int, set[int]]:
        """Definition → the scopes that bind it."""
        scopes: dict[int, set[int]] = {}
        for at in self.binds.of(Reason.DEF_IN_SCOPE):
            scopes.setdefault(self.binds.target(at), set()).add(self.binds.scope(at))
        return scopes

    def inside(self, parent: int, name: str) -> Sequence[int]:
        """The definitions of a name in another (-1 for the file), in order. What only adds to another is left
        out where there is one to add to."""
        if name not in self._first_definitions:
            return ()
        positions = self._inside.get((parent, name))
        if positions is None:
            positions = self._inside[parent, name] = self._find_inside(parent, name)
        return positions

    @cached_property
    def _inside(self) -> dict[tuple[int, str], list[int]]:
        return {}

    def _find_inside(self, parent: int, name: str) -> list[int]:
        items = self.definitions
        positions: list[int] = []
        for at in places(self._definition_names, name, self._first_definitions[name]):
            # What stands inside another definition may be bound in the file: the constants of an `enum` in C.
            if items.parent(at) != parent and not (parent == -1 and at in self._bound_in_file):
                continue
            alike = [one for one, other in enumerate(positions) if self._are_alike(at, other)]
            is_part = items.kind(at) == "namespace"  # all parts count
            if len(alike) == 1 and items.flags(positions[alike[0]]) & FLAG_MORE and not is_part:
                positions[alike[0]] = at
            elif not (alike and items.flags(at) & FLAG_MORE) or is_part:
                positions.append(at)
        return positions

    @cached_property
    def _definition_names(self) -> list[str]:
        """The name of each definition, the name space in front of it where that is not the ordinary one."""
        return [self._name_key(item) for item in self.definitions] if self._apart else self.definitions.names

    @cached_property
    def _first_definitions(self) -> dict[str, int]:
        """Name → the first definition of it."""
        return first_places(self._definition_names)

    @cached_property
    def _bound_in_file(self) -> set[int]:
        """The definitions that the scope of the file binds."""
        binds = self.binds
        return {binds.target(at) for at in binds.of(Reason.DEF_IN_SCOPE) if not binds.scope(at)}

    def _are_alike(self, at: int, other: int) -> bool:
        """Whether one of two definitions of a name can add to the other."""
        kinds = {self.definitions.kind(at), self.definitions.kind(other)}
        return len(kinds) == 1 or kinds <= CLASSES

    @cached_property
    def holders(self) -> set[int]:
        """The definitions that have others inside."""
        return {item.parent for item in self.definitions}

    @cached_property
    def _apart(self) -> dict[str, str]:
        """Kind of definition → the name space that it is alone in."""
        spaces = self.spec.scopes.marked_spaces
        return {kind: space for space, kinds in spaces.items() for kind in kinds}

    def _name_key(self, item: ForeignDefinition) -> str:
        """The name of a definition, with its name space where that is not the ordinary one."""
        space = self._apart.get(item.kind) if self._apart else None
        return f"{space} {item.name}" if space else item.name

    @cached_property
    def _groups(self) -> dict[int, list[int]]:
        """Each definition of a group → all of it, the one that stands for it first."""
        groups: dict[int, list[int]] = {}
        for at in self.definitions.having(FLAG_MORE):
            item = self.definitions[at]
            siblings = self.inside(item.parent, self._name_key(item))
            if at not in siblings:
                alike = [one for one in siblings if self._are_alike(at, one)]
                main = max((one for one in alike if one < at), default=alike[0])
                group = groups.setdefault(main, [main])
                group.append(at)
                groups[at] = group
        return groups

    def group(self, at: int) -> list[int]:
        """All definitions that are one thing with a definition."""
        return self._groups.get(at, [at])

    @cached_property
    def opened_by(self) -> dict[int, int]:
        """Scope → the definition that opens it."""
        return {body: at for at, body in enumerate(self.definitions.bodies) if body >= 0}

    @cached_property
    def exported(self) -> dict[str, list[ForeignExport]]:
        exports: dict[str, list[ForeignExport]] = {}
        for item in self.exports:
            exports.setdefault(item.name, []).append(item)
        return exports

    @cached_property
    def extended(self) -> set[str]:
        """The last names of what classes of the file extend."""
        classes = [item for item in self.definitions if item.kind == "class"]
        return {split_path(base)[-1] for item in classes for base in item.bases}

    @cached_property
    def full_names(self) -> dict[str, str]:
        """The full name behind every name that is imported."""
        return full_names((item.module, item.name, item.alias) for item in self.imports)

    @cached_property
    def stars(self) -> list[int]:
        """The imports that bring all names of a module."""
        return [at for at, item in enumerate(self.imports) if item.name == "*"]

    def several(self, scope: int, name: str) -> list[ForeignBind]:
        """The binds of a name that is bound more than once in a scope."""
        if self.bound(scope, name) != -1:
            return []
        positions = places(self.binds.names, name)
        return [self.binds[at] for at in positions if self.binds.scope(at) == scope]

    def named(self, scope: int, name: str) -> ForeignBind | None:
        at = self.bound(scope, name)
        return self.binds[at] if at is not None and at >= 0 else None


def first_places(names: Sequence[str]) -> dict[str, int]:
    """Name → the first place where it is."""
    return dict(zip(reversed(names), range(len(names) - 1, -1, -1), strict=True))


def _meant_by(bind: ForeignBind) -> tuple[Reason, int, str]:
    return bind.reason, bind.target, bind.type_name
