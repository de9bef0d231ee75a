"""The facts of one blob in memory. They never change, so they are kept and shared."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property
from typing import Any, Final, TypeVar

from codeplane.core.slots import Answers, ContentSlot
from codeplane.index.view.definitions import Definitions
from codeplane.index.view.foreign import ForeignFile
from codeplane.languages.facts import Export, Import, Occurrences, Reason
from codeplane.parsing.foreign import deeper_definitions, parameters_of, reserved_widths
from codeplane.parsing.pack import Binds, Scopes, unpack_binds, unpack_scopes
from codeplane.storage.database import Connection

T = TypeVar("T")

_KEPT: Final = 2_000
_MOST_OCCURRENCES: Final = 1_000_000


class FileFacts(ForeignFile):
    """What one file says by itself, without the occurrences of its names.

    For who resolves names of this very file: other files are read as `ForeignFile`.

    Each part is read when it is first asked for, from the snapshot that asks. What has been read or made is
    kept in a dictionary that the facts of one blob have in common, whichever snapshot they were asked in.
    """

    __slots__ = ("__dict__", "_connection")

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

    def derived(self, slot: ContentSlot[T], make: Callable[[], T]) -> T:
        """What is made of the content alone, made once."""
        return self._answers.once(slot, None, make)

    def made(self, slot: ContentSlot[T]) -> T | None:
        """What has been made of the content so far."""
        return self._answers.table(slot).get(None)

    @cached_property
    def _answers(self) -> Answers:
        return Answers()

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
    def type_tests(self) -> dict[str, list[str]]:
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
    def parameters(self) -> dict[int, tuple[str, ...]]:
        """Scope → the names of its parameters in order."""
        binds = self.binds
        names = binds.names
        return parameters_of(
            (binds.scope(at), binds.position(at), names[at]) for at in binds.of(Reason.PARAM)
        )

    @cached_property
    def deeper(self) -> frozenset[int]:
        """The definitions with a body that stand deeper than something beside them."""
        return deeper_definitions(self.definitions)

    @cached_property
    def reserved_widths(self) -> dict[int, int]:
        """Members such as `__slots__`, and the columns that each takes."""
        return reserved_widths(self.definitions)

    @cached_property
    def import_at(self) -> dict[tuple[int, int], int]:
        """Line and column → the import that stands there."""
        return {(item.line, item.column): at for at, item in enumerate(self.imports)}


def drop_made(parts: dict[str, Any], slot: ContentSlot[Any]) -> None:
    """Drops what was made of a content for a slot."""
    answers: Answers | None = parts.get("_answers")
    if answers is not None:
        answers.drop(slot)


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

    def forget(self, slot: ContentSlot[Any]) -> None:
        """Drops what was made of contents for a slot; it can be made again."""
        with self._guard:
            all_parts = list(self._parts.values())
        for parts in all_parts:
            drop_made(parts, slot)


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
