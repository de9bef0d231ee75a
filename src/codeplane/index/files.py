"""The facts of one blob in memory. They never change, so they are kept and shared."""

import threading
from collections import OrderedDict
from functools import cached_property
from typing import Final

from codeplane.index.store import from_sql
from codeplane.index.targets import CLASSES, split_path
from codeplane.languages import specs
from codeplane.languages.facts import (
    FLAG_MORE,
    Bind,
    Definition,
    Export,
    Import,
    Occurrences,
    Reason,
    Scope,
    Span,
    full_names,
)
from codeplane.reading.pack import unpack_binds, unpack_scopes
from codeplane.storage.database import Connection

_KEPT: Final = 2_000
_MOST_OCCURRENCES: Final = 1_000_000


class FileFacts:
    """What one file says by itself, without the occurrences of its names."""

    def __init__(self, connection: Connection, blob: int) -> None:
        self.blob = blob
        head = connection.execute(
            "SELECT language, state, package, scopes, binds FROM blob WHERE id = ?", (blob,)
        ).fetchone()
        self.language: str = head[0]
        self.state: str = head[1]
        self.package: str = head[2]
        self.scopes: list[Scope] = unpack_scopes(head[3])
        bound, self.receivers = unpack_binds(head[4])
        self.binds: list[Bind] = list(bound)
        self.definitions: list[Definition] = [
            Definition._make(
                (
                    from_sql(row[0]),
                    *row[1:5],
                    Span(*row[5:9]),
                    *row[9:12],
                    tuple(filter(None, row[12].split("\n"))),
                    *row[13:],
                )
            )
            for row in connection.execute(
                "SELECT d.name, d.kind, d.parent, d.scope, d.body, d.start_line, d.start_column, d.end_line,"
                " d.end_column, d.name_line, d.name_column, d.signature, d.bases, d.annotation, d.flags,"
                " d.owner FROM definition d WHERE d.blob = ?"
                " ORDER BY d.position",
                (blob,),
            )
        ]
        self.imports: list[Import] = [
            Import._make((*row[:7], bool(row[7]), bool(row[8])))
            for row in connection.execute(
                "SELECT scope, kind, module, name, alias, line, column, certain, reexport FROM import"
                " WHERE blob = ? ORDER BY position",
                (blob,),
            )
        ]
        self.exports: list[Export] = [
            Export(name, local, evidence, bool(certain))
            for name, local, evidence, certain in connection.execute(
                "SELECT name, local, evidence, certain FROM export WHERE blob = ? ORDER BY position", (blob,)
            )
        ]

    @cached_property
    def bound(self) -> dict[tuple[int, str], int]:
        """Scope and name → the bind. Of several (declared again), the first is uncertain to be meant."""
        found: dict[tuple[int, str], int] = {}
        for at, bind in enumerate(self.binds):
            name = bind.name
            if self._apart and bind.reason == Reason.DEF_IN_SCOPE:
                name = self._key(self.definitions[bind.target])
            key = (bind.scope, name)
            first = found.setdefault(key, at)
            # The same bind may be there once more for places where a base class may hide it.
            is_again = first != at and first >= 0
            if is_again and bind._replace(certain=True) != self.binds[first]._replace(certain=True):
                found[key] = -1
        return found

    @cached_property
    def first_parameters(self) -> dict[int, tuple[int, int]]:
        """Scope → where the first of its parameters stands."""
        found: dict[int, tuple[int, int]] = {}
        for bind in self.binds:
            if bind.reason == Reason.PARAM:
                at = (bind.line, bind.column)
                found[bind.scope] = min(at, found.get(bind.scope, at))
        return found

    @cached_property
    def inside(self) -> dict[tuple[int, str], list[int]]:
        """Parent (-1 for the file) and name → definitions, in order. What only adds to another is left out
        where there is one to add to."""
        found: dict[tuple[int, str], list[int]] = {}
        bound = {bind.target for bind in self.binds if not bind.scope and bind.reason == Reason.DEF_IN_SCOPE}
        for at, item in enumerate(self.definitions):
            # What stands inside another definition may be bound in the file: the constants of an `enum` in C.
            for parent in {item.parent, -1} if at in bound else {item.parent}:
                known = found.setdefault((parent, self._key(item)), [])
                alike = [one for one, other in enumerate(known) if self._are_alike(item, other)]
                is_part = item.kind == "namespace"  # all parts count
                if len(alike) == 1 and self.definitions[known[alike[0]]].flags & FLAG_MORE and not is_part:
                    known[alike[0]] = at
                elif not (alike and item.flags & FLAG_MORE) or is_part:
                    known.append(at)
        return found

    def _are_alike(self, item: Definition, at: int) -> bool:
        """Whether one of two definitions of a name can add to the other."""
        kinds = {item.kind, self.definitions[at].kind}
        return len(kinds) == 1 or kinds <= CLASSES

    @cached_property
    def holders(self) -> set[int]:
        """The definitions that have others inside."""
        return {item.parent for item in self.definitions}

    @cached_property
    def _apart(self) -> dict[str, str]:
        """Kind of definition → the name space that it is alone in."""
        spaces = specs()[self.language].apart
        return {kind: space for space, kinds in spaces.items() for kind in kinds}

    def _key(self, item: Definition) -> str:
        """The name of a definition, with its name space where that is not the ordinary one."""
        space = self._apart.get(item.kind) if self._apart else None
        return f"{space} {item.name}" if space else item.name

    @cached_property
    def _groups(self) -> dict[int, list[int]]:
        """Each definition of a group → all of it, the one that stands for it first."""
        found: dict[int, list[int]] = {}
        for at, item in enumerate(self.definitions):
            known = self.inside[item.parent, self._key(item)]
            if item.flags & FLAG_MORE and at not in known:
                alike = [one for one in known if self._are_alike(item, one)]
                main = max((one for one in alike if one < at), default=alike[0])
                group = found.setdefault(main, [main])
                group.append(at)
                found[at] = group
        return found

    def group(self, at: int) -> list[int]:
        """All definitions that are one thing with a definition."""
        return self._groups.get(at, [at])

    @cached_property
    def opened_by(self) -> dict[int, int]:
        """Scope → the definition that opens it."""
        return {item.body: at for at, item in enumerate(self.definitions) if item.body >= 0}

    @cached_property
    def exported(self) -> dict[str, list[Export]]:
        found: dict[str, list[Export]] = {}
        for item in self.exports:
            found.setdefault(item.name, []).append(item)
        return found

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
        return {bind.scope for bind in self.binds if bind.reason == Reason.PARAM}

    @cached_property
    def full_names(self) -> dict[str, str]:
        """The full name behind every name that is imported."""
        return full_names((item.module, item.name, item.alias) for item in self.imports)

    @cached_property
    def stars(self) -> list[int]:
        """The imports that bring all names of a module."""
        return [at for at, item in enumerate(self.imports) if item.name == "*"]

    @cached_property
    def _several(self) -> dict[tuple[int, str], list[Bind]]:
        """Scope and name → the binds, where there are several."""
        found: dict[tuple[int, str], list[Bind]] = {}
        for bind in self.binds if -1 in self.bound.values() else ():
            if self.bound.get((bind.scope, bind.name)) == -1:
                found.setdefault((bind.scope, bind.name), []).append(bind)
        return found

    def several(self, scope: int, name: str) -> list[Bind]:
        """The binds of a name that is bound more than once in a scope."""
        return self._several.get((scope, name), [])

    def named(self, scope: int, name: str) -> Bind | None:
        at = self.bound.get((scope, name), -1)
        return self.binds[at] if at >= 0 else None


class FactsCache:
    """The facts of the blobs used last."""

    def __init__(self) -> None:
        self._files: OrderedDict[int, FileFacts] = OrderedDict()
        self._guard = threading.Lock()

    def get(self, connection: Connection, blob: int) -> FileFacts:
        with self._guard:
            known = self._files.get(blob)
            if known is not None:
                self._files.move_to_end(blob)
                return known
        facts = FileFacts(connection, blob)
        with self._guard:
            self._files[blob] = facts
            while len(self._files) > _KEPT:
                self._files.popitem(last=False)
        return facts


class OccurrencesCache:
    """The occurrences of the blobs used last, unpacked."""

    def __init__(self) -> None:
        self._blobs: OrderedDict[int, Occurrences] = OrderedDict()
        self._total = 0
        self._guard = threading.Lock()

    def get(self, blob: int) -> Occurrences | None:
        with self._guard:
            found = self._blobs.get(blob)
            if found is not None:
                self._blobs.move_to_end(blob)
            return found

    def put(self, blob: int, found: Occurrences) -> None:
        with self._guard:
            if blob not in self._blobs:
                self._total += len(found)
            self._blobs[blob] = found
            while self._total > _MOST_OCCURRENCES and len(self._blobs) > 1:
                self._total -= len(self._blobs.popitem(last=False)[1])
