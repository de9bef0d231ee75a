"""What is kept between questions about links: facts of blobs, and answers that are still true."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from codeplane.contexts.contexts import Read
from codeplane.index.view.caches import BlobCache, EpochCache
from codeplane.index.view.semantics import Generation
from codeplane.index.view.units import Units
from codeplane.index.view.view import View
from codeplane.names.imports import ImportResolver
from codeplane.storage.database import Connection

_MOST_COMMITS: Final = 4
_MOST_VIEWS: Final = 6


class LinkCaches:
    """Makes linkers for the views of one index. What was found out at one epoch serves the next as long as it
    holds."""

    def __init__(self, *, semantic: bool = True) -> None:
        self._kept = BlobCache(semantic=semantic)
        self._memos: OrderedDict[int, EpochCache] = OrderedDict()  # those asked about last
        self._commits: OrderedDict[tuple[object, ...], EpochCache] = OrderedDict()  # those asked about last
        self._guard = threading.Lock()

    def linker(
        self, connection: Connection, view: int, epoch: int, read: Read, units: Callable[[], Units]
    ) -> ImportResolver:
        memo = self._memo(connection, view, epoch)
        return ImportResolver(View(connection, memo, self._kept, read, units))

    def _memo(self, connection: Connection, view: int, epoch: int) -> EpochCache:
        with self._guard:
            memo = self._memos.get(view)
            if memo is not None:
                self._memos.move_to_end(view)
        generation = self._kept.semantics.generation(connection)
        if memo is not None and (memo.epoch, memo.generation) == (epoch, generation):
            return memo
        if not epoch:
            return self._of_commit(connection, view, generation)
        is_older = memo is not None and memo.epoch < epoch
        newer = memo.advanced(connection, view, epoch, self._kept) if memo is not None and is_older else None
        newer = newer or self._made(connection, view, epoch)
        with self._guard:
            cache = self._memos.get(view)
            if cache is None or (cache.generation, cache.epoch) < (newer.generation, epoch):
                self._memos[view] = newer
                while len(self._memos) > _MOST_VIEWS:
                    self._memos.popitem(last=False)
        return newer

    def _made(self, connection: Connection, view: int, epoch: int) -> EpochCache:
        """The cache of a view that nothing is known of; what holds in the last one often does here."""
        with self._guard:
            latest = next(reversed(self._memos.values()), None)
        if latest is None:
            return EpochCache.load(connection, view, epoch, self._kept)
        return latest.forked(connection, (view, epoch), self._kept)

    def _of_commit(self, connection: Connection, view: int, generation: Generation) -> EpochCache:
        """A view of a commit has no epochs: what it lacks may have been filled in since it was looked at."""
        state = connection.execute("SELECT count(*), sum(blob) FROM entry WHERE view = ?", (view,)).fetchone()
        with self._guard:
            cache = self._commits.pop((view, generation, *state), None)
        memo = cache or self._made(connection, view, 0)
        with self._guard:
            self._commits[view, generation, *state] = memo
            while len(self._commits) > _MOST_COMMITS:
                self._commits.popitem(last=False)
        return memo
