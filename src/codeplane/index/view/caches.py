"""What has been found out about views, each answer for as long as it is valid."""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from codeplane.contexts.contexts import is_marker
from codeplane.core.paths import RepoPath
from codeplane.core.slots import CarriedSlot, EpochSlot, InterfaceSlot, Slot
from codeplane.index.store import Change, changes_between, from_sql
from codeplane.index.view.files import FactsCache, OccurrencesCache
from codeplane.index.view.layout import Layout
from codeplane.index.view.semantics import NO_CHANGES, NO_SEMANTICS, Generation, SemanticsCache
from codeplane.index.view.vocabulary import Vocabulary
from codeplane.storage.database import Connection

K = TypeVar("K")
V = TypeVar("V")

_Tables = dict[Slot[Any, Any], dict[Any, Any]]

_MOST_SINCE: Final = 200  # changes that an answer may be behind


class EpochCache:
    """What is known about one view at one epoch. Filled as questions are asked; the same for every reader."""

    def __init__(self, view: int, epoch: int, layout: Layout, generation: Generation = NO_SEMANTICS) -> None:
        self.view = view
        self.epoch = epoch
        self.layout = layout
        self.generation = generation  # of what indexers say
        self._by_interface: _Tables = {}
        self._of_epoch: _Tables = {}
        self._carried: dict[CarriedSlot[Any], tuple[Any, tuple[Change, ...]]] = {}
        self.manifests: dict[str, bytes | None] = {}
        self.inputs: set[str] = set()  # files whose digests decide what answers are
        # What the occurrences of a name in a file mean, and how many these are.
        self.meanings: dict[tuple[str, int | None, str], Any] = {}
        self.meant = 0

    @classmethod
    def load(cls, connection: Connection, view: int, epoch: int, blobs: "BlobCache") -> "EpochCache":
        return cls(view, epoch, _layout_of(connection, view), blobs.semantics.generation(connection))

    def table(self, slot: InterfaceSlot[K, V] | EpochSlot[K, V]) -> dict[K, V]:
        """The answers of one kind, to be read and filled."""
        tables = self._of_epoch if isinstance(slot, EpochSlot) else self._by_interface
        table: dict[K, V] | None = tables.get(slot)
        # Two threads may ask first: both get the table that came first.
        return tables.setdefault(slot, {}) if table is None else table

    def once(self, slot: InterfaceSlot[K, V] | EpochSlot[K, V], key: K, find: Callable[[], V]) -> V:
        """The answer for a key; `find` works it out the first time."""
        table = self.table(slot)
        if key not in table:
            table[key] = find()
        return table[key]

    def carried(
        self, slot: CarriedSlot[V], find: Callable[[], V], renew: Callable[[V, Sequence[Change]], V | None]
    ) -> V:
        """An answer that outlives changes: `renew` brings an older one up to date, or gives None where only
        `find` can."""
        answer: V | None
        answer, since = self._carried.get(slot, (None, ()))
        if answer is None or since:
            answer = renew(answer, since) if answer is not None else None
            answer = answer if answer is not None else find()
            self._carried[slot] = (answer, ())
        return answer

    def advanced(
        self, connection: Connection, view: int, epoch: int, blobs: "BlobCache"
    ) -> "EpochCache | None":
        """The cache of a later epoch: answers stay known as long as no file shows others anything new.

        None where too much has changed, or too much to tell.
        """
        if self.generation != blobs.semantics.generation(connection):
            return None
        changes = changes_between(connection, view, self.epoch, epoch)
        if changes is None:
            return None
        if any(one.blob is None or one.old_blob is None for one in changes):
            cache = EpochCache.load(connection, view, epoch, blobs)
        else:
            layout = self.layout.changed((one.path, one.blob) for one in changes)
            cache = EpochCache(view, epoch, layout, self.generation)
        if all(map(self._is_quiet, changes)) and self._keeps_facts(connection, changes, blobs):
            cache._by_interface, cache.manifests = self._by_interface, self.manifests
            cache.inputs = self.inputs
            cache.meanings, cache.meant = self.meanings, self.meant
        cache._carried = self._carry_answers(changes)
        return cache

    def forked(self, connection: Connection, at: tuple[int, int], blobs: "BlobCache") -> "EpochCache":
        """The cache of another view, with copies of the answers that hold there as well.

        From then on neither learns what the other finds out.
        """
        view, epoch = at
        generation = blobs.semantics.generation(connection)
        cache = EpochCache(view, epoch, _layout_of(connection, view), generation)
        changes = self._differences(connection, cache.layout)
        if changes is None or self.generation != cache.generation:
            return cache
        if not all(map(self._is_quiet, changes)) or not self._keeps_facts(connection, changes, blobs):
            return cache
        cache._by_interface = _copied(self._by_interface)
        if not changes:
            cache._of_epoch = _copied(self._of_epoch)
        cache.manifests, cache.inputs = dict(self.manifests), set(self.inputs)
        cache.meanings, cache.meant = dict(self.meanings), self.meant
        cache._carried = self._carry_answers(changes)
        return cache

    def _differences(self, connection: Connection, layout: Layout) -> list[Change] | None:
        """What another view has otherwise; None where that is much, or other paths."""
        mine, other = self.layout.blobs, layout.blobs
        if mine.keys() != other.keys():
            return None
        pairs = [(path, blob, mine[path]) for path, blob in other.items() if mine[path] != blob]
        if len(pairs) > _MOST_SINCE:
            return None
        changes = [_change(connection, RepoPath(path), new, old) for path, new, old in pairs]
        return None if None in changes else [one for one in changes if one is not None]

    def _carry_answers(self, changes: list[Change]) -> dict[CarriedSlot[Any], tuple[Any, tuple[Change, ...]]]:
        if any(self._is_read(change) for change in changes):
            return {}
        return {
            slot: (answer, (*since, *changes))
            for slot, (answer, since) in self._carried.items()
            if len(since) + len(changes) <= _MOST_SINCE
        }

    def _keeps_facts(self, connection: Connection, changes: list[Change], blobs: "BlobCache") -> bool:
        """Whether what indexers say of other files holds as it did before some quiet changes."""
        return self.generation == NO_SEMANTICS or all(
            one.blob is not None
            and one.old_blob is not None
            and blobs.semantics.changes(connection, one.old_blob, one.blob) == NO_CHANGES
            for one in changes
        )

    def _is_read(self, change: Change) -> bool:
        return change.path in self.manifests or change.path in self.inputs or is_marker(change.path)

    def _is_quiet(self, change: Change) -> bool:
        before, after = change.interfaces
        return before is not None and before == after and not self._is_read(change)


def _layout_of(connection: Connection, view: int) -> Layout:
    rows = connection.execute("SELECT path, blob FROM entry WHERE view = ?", (view,))
    return Layout({from_sql(path): blob for path, blob in rows})


def _copied(tables: _Tables) -> _Tables:
    return {slot: dict(table) for slot, table in list(tables.items()) if not slot.guards_itself}


def _change(connection: Connection, path: RepoPath, new: int | None, old: int | None) -> Change | None:
    """A path with another content; None where one of the two is not read."""
    ask = "SELECT language || interface, state <> 'failed' AND size > 0 FROM blob WHERE id = ?"
    before, after = (connection.execute(ask, (blob,)).fetchone() for blob in (old, new))
    if before is None or after is None:
        return None
    return Change(path, (before[0], after[0]), (bool(before[1]), bool(after[1])), new, old)


class BlobCache:
    """What serves all views: facts of blobs, and the names of the definitions whose uids were handed out."""

    def __init__(self, *, semantic: bool = True) -> None:
        self.cache = FactsCache()
        self.unpacked = OccurrencesCache()
        self.issued: dict[str, str] = {}
        self.vocabulary = Vocabulary()
        self.semantics = SemanticsCache(is_enabled=semantic)
