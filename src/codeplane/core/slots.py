"""Answers that are worked out once: each kind has a slot, and each slot a table of its own.

Modules cannot clash: a slot is known by its identity, not by its name, and its table is typed. The class of a
slot says how long its answers are valid, so that who fills a table decides that where the slot is made.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Slot(Generic[K, V]):
    """One kind of answer, by key. Made once, in the module that fills it; `name` is for debugging."""

    __slots__ = ("guards_itself", "name")

    def __init__(self, name: str, *, guards_itself: bool = False) -> None:
        self.name = name
        # Whether an answer stands there unfinished while it is worked out, to end a recursion.
        self.guards_itself = guards_itself

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class InterfaceSlot(Slot[K, V]):
    """Answers that stay valid as long as no file shows others anything new."""

    __slots__ = ()


class EpochSlot(Slot[K, V]):
    """Answers that any change of a file ends."""

    __slots__ = ()


class ContentSlot(Slot[None, V]):
    """An answer that is made of the content of one file alone; it is valid wherever that content is."""

    __slots__ = ()


class CarriedSlot(Slot[None, V]):
    """An answer that whoever asks brings up to date, told what has changed since it was valid."""

    __slots__ = ()


class Answers:
    """The tables of all slots that were asked for so far."""

    def __init__(self) -> None:
        self._tables: dict[Slot[Any, Any], dict[Any, Any]] = {}

    def table(self, slot: Slot[K, V]) -> dict[K, V]:
        """The answers of one kind, to be read and filled."""
        table: dict[K, V] | None = self._tables.get(slot)
        # Two threads may ask first: both get the table that came first.
        return self._tables.setdefault(slot, {}) if table is None else table

    def drop(self, slot: Slot[Any, Any]) -> None:
        """Forgets the answers of one kind."""
        self._tables.pop(slot, None)

    def once(self, slot: Slot[K, V], key: K, find: Callable[[], V]) -> V:
        """The answer for a key; `find` works it out the first time."""
        table = self.table(slot)
        if key not in table:
            table[key] = find()
        return table[key]
