"""Answers that are worked out once: each kind has a slot, and each slot a table of its own.

Modules cannot clash: a slot is known by its identity, not by its name, and its table is typed.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Slot(Generic[K, V]):
    """One kind of answer, by key. Made once, in the module that fills it; `name` is for debugging."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Slot({self.name!r})"


class Answers:
    """The tables of all slots that were asked for so far."""

    def __init__(self) -> None:
        self._tables: dict[Slot[Any, Any], dict[Any, Any]] = {}

    def table(self, slot: Slot[K, V]) -> dict[K, V]:
        """The answers of one kind, to be read and filled."""
        table: dict[K, V] | None = self._tables.get(slot)
        # Two threads may ask first: both get the table that came first.
        return self._tables.setdefault(slot, {}) if table is None else table

    def once(self, slot: Slot[K, V], key: K, find: Callable[[], V]) -> V:
        """The answer for a key; `find` works it out the first time."""
        table = self.table(slot)
        if key not in table:
            table[key] = find()
        return table[key]
