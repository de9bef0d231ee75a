"""The facts of one blob in memory. They never change, so they are kept and shared."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Final, TypeVar

from codeplane.core.kinds import CLASSES, split_path
from codeplane.core.slots import Answers, ContentSlot
from codeplane.index.view.definitions import Definitions
from codeplane.languages import LanguageSpec, specs
from codeplane.languages.facts import (
    FLAG_MORE,
    Bind,
    Definition,
    Export,
    Import,
    Occurrences,
    Reason,
    full_names,
    places,
)
from codeplane.parsing.pack import Binds, Scopes, unpack_binds, unpack_scopes
from codeplane.storage.database import Connection

T = TypeVar("T")

_KEPT: Final = 2_000
_MOST_OCCURRENCES: Final = 1_000_000


class FileFacts:
    """What one file says by itself, without the occurrences of its names.

    Each part is read when it is first asked for, from the snapshot that asks. What has been read or made is
    kept in a dictionary that the facts of one blob have in common, whichever snapshot they were asked in.
    """

    __slots__ = ("__dict__", "_connection")

    language: str
    state: str
    package: str
    _packed: tuple[bytes, bytes]

    def __init__(self, connection: Connection, blob: int, parts: dict[str, Any]) -> None:
        self.__dict__ = parts
        self._connection = connection
        if not parts:
            head = connection.execute(
                "SELECT language, state, package, scopes, binds FROM blob WHERE id = ?", (blob,)
            ).fetchone()
            parts |= zip(("language", "state", "package"), head, strict=False)
            parts |= {"_packed": head[3:], "blob": blob}

    blob: int

    def derived(self, slot: ContentSlot[T], make: Callable[[], T]) -> T:
        """What is made of the content alone, made once."""
        return self._answers.once(slot, None, make)

    @cached_property
    def _answers(self) -> Answers:
        return Answers()

    @cached_property
    def spec(self) -> LanguageSpec:
        """The language of the file."""
        return specs()[self.language]

    @cached_property
    def scopes(self) -> Scopes:
        return unpack_scopes(self._packed[0])

    @cached_property
    def _bound(self) -> tuple[Binds, list[str], list[str]]:
        return unpack_binds(self._packed[1])

    @cached_property
    def binds(self) -> Binds:
        return self._bound[0]

    @cached_property
    def receivers(self) -> list[str]:
        return self._bound[1]

    @cached_property
    def asked(self) -> dict[str, list[str]]:
        """Receiver → what the code asks whether it is."""
        values: dict[str, list[str]] = {}
        for value, _, what in (text.partition(" ") for text in self._bound[2]):
            values.setdefault(value, []).append(what)
        return values

    @cached_property
    def definitions(self) -> Definitions:
        return Definitions(self._connection, self.blob)

    @cached_property
    def imports(self) -> list[Import]:
        return [
            Import._make((*row[:7], bool(row[7]), bool(row[8])))
            for row in self._connection.execute(
                "SELECT scope, kind, module, name, alias, line, column, certain, reexport FROM import"
                " WHERE blob = ? ORDER BY position",
                (self.blob,),
            )
        ]

    @cached_property
    def exports(self) -> list[Export]:
        return [
            Export(name, local, evidence, bool(certain))
            for name, local, evidence, certain in self._connection.execute(
                "SELECT name, local, evidence, certain FROM export WHERE blob = ? ORDER BY position",
                (self.blob,),
            )
        ]

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
        distinct = {self.binds[at]._replace(certain=True) for at in positions}
        return positions[0] if len(distinct) == 1 else -1

    @cached_property
    def binding_scopes(self) -> dict[int, set[int]]:
        """Definition → the scopes that bind it."""
        scopes: dict[int, set[int]] = {}
        for at in self.binds.of(Reason.DEF_IN_SCOPE):
            scopes.setdefault(self.binds.target(at), set()).add(self.binds.scope(at))
        return scopes

    @cached_property
    def first_parameters(self) -> dict[int, tuple[int, int]]:
        """Scope → where the first of its parameters stands."""
        firsts: dict[int, tuple[int, int]] = {}
        for at in self.binds.of(Reason.PARAM):
            scope, position = self.binds.scope(at), self.binds.position(at)
            firsts[scope] = min(position, firsts.get(scope, position))
        return firsts

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

    def _name_key(self, item: Definition) -> str:
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
        return dict(
            self._connection.execute(
                "SELECT body, position FROM definition WHERE blob = ? AND body >= 0 ORDER BY position",
                (self.blob,),
            ).fetchall()
        )

    @cached_property
    def exported(self) -> dict[str, list[Export]]:
        exports: dict[str, list[Export]] = {}
        for item in self.exports:
            exports.setdefault(item.name, []).append(item)
        return exports

    @cached_property
    def import_at(self) -> dict[tuple[int, int], int]:
        """Line and column → the import that stands there."""
        return {(item.line, item.column): at for at, item in enumerate(self.imports)}

    @cached_property
    def extended(self) -> set[str]:
        """The last names of what classes of the file extend."""
        classes = [item for item in self.definitions if item.kind == "class"]
        return {split_path(base)[-1] for item in classes for base in item.bases}

    @cached_property
    def with_parameters(self) -> set[int]:
        """The scopes that have parameters."""
        return {self.binds.scope(at) for at in self.binds.of(Reason.PARAM)}

    @cached_property
    def full_names(self) -> dict[str, str]:
        """The full name behind every name that is imported."""
        return full_names((item.module, item.name, item.alias) for item in self.imports)

    @cached_property
    def stars(self) -> list[int]:
        """The imports that bring all names of a module."""
        return [at for at, item in enumerate(self.imports) if item.name == "*"]

    def several(self, scope: int, name: str) -> list[Bind]:
        """The binds of a name that is bound more than once in a scope."""
        if self.bound(scope, name) != -1:
            return []
        positions = places(self.binds.names, name)
        return [self.binds[at] for at in positions if self.binds.scope(at) == scope]

    def named(self, scope: int, name: str) -> Bind | None:
        at = self.bound(scope, name)
        return self.binds[at] if at is not None and at >= 0 else None


def first_places(names: Sequence[str]) -> dict[str, int]:
    """Name → the first place where it is."""
    return dict(zip(reversed(names), range(len(names) - 1, -1, -1), strict=True))


class FactsCache:
    """What has been read of the blobs used last."""

    def __init__(self) -> None:
        self._parts: OrderedDict[int, dict[str, Any]] = OrderedDict()
        self._guard = threading.Lock()

    def get(self, connection: Connection, blob: int) -> FileFacts:
        with self._guard:
            parts = self._parts.get(blob)
            if parts is not None:
                self._parts.move_to_end(blob)
        facts = FileFacts(connection, blob, {} if parts is None else parts)
        if parts is None:
            with self._guard:
                self._parts[blob] = facts.__dict__
                while len(self._parts) > _KEPT:
                    self._parts.popitem(last=False)
        return facts


class OccurrencesCache:
    """The occurrences of the blobs used last, unpacked."""

    def __init__(self) -> None:
        self._blobs: OrderedDict[int, Occurrences] = OrderedDict()
        self._total = 0
        self._guard = threading.Lock()

    def get(self, blob: int) -> Occurrences | None:
        with self._guard:
            occurrences = self._blobs.get(blob)
            if occurrences is not None:
                self._blobs.move_to_end(blob)
            return occurrences

    def put(self, blob: int, found: Occurrences) -> None:
        with self._guard:
            if blob not in self._blobs:
                self._total += len(found)
            self._blobs[blob] = found
            while self._total > _MOST_OCCURRENCES and len(self._blobs) > 1:
                self._total -= len(self._blobs.popitem(last=False)[1])
