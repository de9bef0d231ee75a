"""The facts of a repository: kept in step with the working tree, one epoch at a time."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from codeplane.core.errors import (
    CodePlaneError,
    ServerStopping,
)
from codeplane.core.fingerprint import Fingerprint
from codeplane.core.paths import Digest, RepoPath
from codeplane.index.background_parse import Ahead
from codeplane.index.commit_views import CommitViews
from codeplane.index.contents import TreeContents
from codeplane.index.coverage import Coverage, Totals, coverage_of, totals_of
from codeplane.index.gc import Collected, collect
from codeplane.index.open_file import mark_damaged, open_file
from codeplane.index.overlay_views import OverlayViews
from codeplane.index.store import Entry, Parsed, from_sql, now_ms, parsed_of, publish, view_id
from codeplane.index.work import Progress, Work, in_batches, outdated
from codeplane.index.worktree_views import WORKING_VIEW
from codeplane.parsing.workers import Done, Workers
from codeplane.storage.database import Connection, Database
from codeplane.storage.lease import Lease
from codeplane.working_tree import Delta, Known, WorkingTree

# Up to this much is extracted first and then published whole; more is published as it is read, and what
# has not been read yet is known to be missing.
_WHOLE_FILES: Final = 200
_WHOLE_BYTES: Final = 8 << 20
# While a long pass keeps the processors busy, a call reads no more than this by itself.
_WHOLE_FILES_MEANWHILE: Final = 20


@dataclass(frozen=True)
class IndexState:
    """Progress of the index."""

    files: int
    unread: int
    epoch: int
    building: bool
    absorbing: bool  # what is unread has changed since everything was read once
    rebuilt: str  # why it was made anew at this start; "" when it was not
    reconciled_ms: int  # of the last look at the working tree; 0 where there was none yet


class IndexDatabase:
    """Facts by content, a view of the working tree, epochs. One refresh runs at a time."""

    def __init__(
        self, database: Database, lease: Lease, tree: WorkingTree, workers: Workers, view: str, rebuilt: str
    ) -> None:
        self.database = database
        self._lease = lease
        self._tree = tree
        self.workers = workers
        self._rebuilt = rebuilt
        self._reading = threading.Lock()  # held by the one pass that may take long
        self._refreshing = threading.Lock()  # held while the view is compared or changed
        self._building = False
        self._was_whole = False
        self._pace = (0.0, 0)  # when the pass that runs began, and how much was unread
        self._closing = False
        self._key = view
        self._view = 0
        self.commits = CommitViews(database, workers)
        self._overlays = OverlayViews(database, workers)
        self._ahead = Ahead(database, workers)
        self._epoch = 0
        self._reconciled_ms = 0
        self._entries: dict[RepoPath, Entry] = {}
        self._unread: set[RepoPath] = set()  # entries without facts
        self._known: dict[RepoPath, Known] = {}  # of the entries
        self._may_be_outdated = True
        self._fingerprint: Fingerprint | None = None  # of what is known; made on first use, then kept up
        self._load_view()

    @classmethod
    def open(cls, file: Path, tree: WorkingTree, workers: Workers, view: str = WORKING_VIEW) -> Self:
        """Opens the index; one that is damaged or of another schema is made anew.

        Several processes may have it open, each for a view of its own.
        """
        lease = Lease(file)
        try:
            database, rebuilt = open_file(file, lease, tree)
            return cls(database, lease, tree, workers, view, rebuilt)
        except BaseException:
            lease.release()
            raise

    def close(self) -> None:
        """Ends a pass that runs, after the files that it has just read; the next start goes on from there."""
        self._closing = True
        self._overlays.close()
        self.commits.close()
        with self._reading, self._refreshing:
            self._note_look()
            self.database.close()
            if self.database.damage:
                mark_damaged(self.database.path, self.database.damage)
            self._lease.release()

    def _note_look(self) -> None:
        """Leaves on record when the tree was last looked at: a look that finds nothing writes nothing."""
        if not self._reconciled_ms or self.database.damage:
            return
        with suppress(CodePlaneError), self.database.write() as connection:
            connection.execute("UPDATE view SET used_ms = ? WHERE id = ?", (self._reconciled_ms, self._view))

    @property
    def is_damaged(self) -> bool:
        """Whether a read or a write has found the file damaged; the next start makes it anew."""
        return bool(self.database.damage)

    def state(self) -> IndexState:
        with self.database.read() as connection:
            files, unread = connection.execute(
                "SELECT count(*), coalesce(sum(blob IS NULL), 0) FROM entry WHERE view = ?", (self._view,)
            ).fetchone()
            epoch = _last_epoch(connection, self._view)
        absorbing = self._was_whole and unread > 0
        return IndexState(files, unread, epoch, self._building, absorbing, self._rebuilt, self._reconciled_ms)

    def fingerprint(self) -> Fingerprint:
        """That of the files of the working tree, as of the last look."""
        with self.standing() as (fingerprint, _):
            return fingerprint

    @contextmanager
    def standing(self) -> Iterator[tuple[Fingerprint, Callable[[RepoPath], Digest | None]]]:
        """The fingerprint of the last look, and the digests of its files; no other look is made meanwhile."""
        with self._refreshing:
            if self._fingerprint is None:
                self._fingerprint = Fingerprint((path, entry.digest) for path, entry in self._known.items())
            yield self._fingerprint, self._digest_of_path

    def _digest_of_path(self, path: RepoPath) -> Digest | None:
        entry = self._known.get(path)
        return entry.digest if entry is not None else None

    def digests(self) -> dict[RepoPath, Digest]:
        """What each indexed file holds, as of the last look."""
        with self._refreshing:
            return {path: entry.digest for path, entry in self._known.items()}

    @property
    def known(self) -> Mapping[RepoPath, Known]:
        """The indexed files as the last look has found them."""
        return self._known

    def knows(self, path: RepoPath) -> bool:
        """Whether the last look found a file there that is indexed."""
        return path in self._known

    @property
    def was_whole(self) -> bool:
        """Whether everything had been read at some moment since this process has it open."""
        return self._was_whole

    @property
    def epoch(self) -> int:
        """The number of the last change that was published or taken over here."""
        return self._epoch

    @property
    def unread(self) -> int:
        """How many files are known and have no facts yet."""
        return len(self._unread)

    def seconds_left(self) -> float | None:
        """How long the pass that runs will take for the rest, by its pace so far; None where none runs."""
        began, before = self._pace
        count, unread = before - len(self._unread), len(self._unread)
        if not self._building or count <= 0:
            return None
        return (time.monotonic() - began) / count * unread

    @property
    def is_building(self) -> bool:
        """Whether a long pass runs; answers given meanwhile say what is missing."""
        return self._building

    @contextmanager
    def read(self) -> Iterator[tuple[Connection, int, int]]:
        """A connection whose every read agrees, the view of the working tree and its last published epoch."""
        with self.database.read() as connection:
            yield connection, self._view, _last_epoch(connection, self._view)

    def content(self, path: RepoPath) -> bytes | None:
        """The bytes of a file as the last epoch has them; None where they have changed since."""
        entry = self._entries.get(path)
        return TreeContents(self._tree).read(path, entry.known) if entry is not None else None

    def has_commit(self, commit: str) -> bool:
        """Whether all facts of a commit are there, so that a question about it reads nothing."""
        return self.commits.is_made(self._tree.at(commit))

    def commit_totals(self, commit: str, progress: Progress | None = None) -> tuple[Coverage, Totals]:
        """What is known of a commit; what is not there yet is read."""
        view = self.commits.view_of(self._tree.at(commit), progress)
        with self.database.read() as connection:
            return coverage_of(connection, view), totals_of(connection, view)

    def collect(self) -> Collected:
        """Drops old epochs, unused views of commits and blobs that nothing uses; a bounded amount."""
        # A view of a commit in the making has blobs that nothing uses yet.
        with self.commits.making:
            return collect(self.database)

    def refresh(
        self, progress: Progress | None = None, *, followed: bool = False, until: float | None = None
    ) -> int:
        """Makes the index as new as the tree is now, reads everything, and returns its epoch.

        With `followed`, events of the tree may say what has changed where they are followed. From the moment
        `until` of the monotonic clock on, what is not read is left unread for the next refresh.
        """
        with self._reading:
            while True:
                try:
                    work = self._take_in(followed=followed)
                    if work is not None:
                        self._read_in_batches(work, progress, until)
                    self._was_whole = not self._closing and not self._unread
                    return self._epoch
                except _Overtaken:
                    self._reload_view()

    def begin_ahead(self, contents: Mapping[RepoPath, bytes]) -> Callable[[], dict[str, int | None]]:
        """Has workers read contents that files are about to have; the look that finds them has their facts.

        They have begun when this returns. What it returns has to be called: it waits for them and gives
        the blobs. What cannot be read has none.
        """
        return self._ahead.begin(contents)

    def parsed(self, contents: Mapping[RepoPath, bytes]) -> dict[RepoPath, Parsed]:
        """How far contents can be parsed under their paths; what no language reads is not among them."""
        with self.commits.making:  # what nothing uses yet is not dropped meanwhile
            blobs = {RepoPath(path): blob for path, blob in self.begin_ahead(contents)().items()}
            with self.database.read() as connection:
                return parsed_of(connection, blobs)

    def catch_up(self) -> bool:
        """Makes the index as new as the tree is now, but of a burst of changes reads nothing.

        What is unread is marked so. Tells whether it waits for a `refresh`; one that runs is not waited for.
        """
        while True:
            try:
                return self._take_in(followed=True) is not None
            except _Overtaken:
                self._reload_view()

    def _take_in(self, *, followed: bool) -> Work | None:
        """Publishes what has changed: read where it is little, else as unread, with the work that is left."""
        with self._refreshing:
            if self._closing:
                raise ServerStopping("The index is being closed.")
            self._forget_outdated()
            if not followed:
                self._tree.doubt()
            delta = self._tree.reconcile(self._known, followed=True)
            self._reconciled_ms = now_ms()
            files = {**self._left_over(delta), **delta.added, **delta.changed}
            if not (files or delta or delta.touched):
                self._tree.settle()
                return None
            work = Work(TreeContents(self._tree), files)
            with self.database.read() as connection:
                work.find_known(connection)
            if self._ahead.wait({key.digest for key in work.pending}):
                with self.database.read() as connection:
                    work.find_known(connection)
            most = _WHOLE_FILES_MEANWHILE if self._building else _WHOLE_FILES
            if len(work.pending) > most or work.pending_bytes > _WHOLE_BYTES:
                self._publish_epoch(work, [], delta)
                return work
            read = [outcome for chunk in self.workers.extract(work.jobs()) for outcome in chunk]
            self._publish_epoch(work, read, delta)
            return None

    def _forget_outdated(self) -> None:
        """Facts that another version of CodePlane has read count as unread."""
        if not self._may_be_outdated:
            return
        with self.database.read() as connection:
            paths = outdated(connection, self._view)
        self._take_entries({path: self._entries[path]._replace(blob=None) for path in paths})
        self._may_be_outdated = False

    def _left_over(self, delta: Delta) -> dict[RepoPath, Known]:
        """What an earlier pass has left; nothing while one runs that reads it."""
        if self._building:
            return {}
        return {path: self._entries[path].known for path in self._unread - delta.removed}

    def _take_entries(self, entries: Mapping[RepoPath, Entry]) -> None:
        self._entries.update(entries)
        self._unread.difference_update(entries)
        self._unread.update([path for path, entry in entries.items() if entry.blob is None])

    def _read_in_batches(self, work: Work, progress: Progress | None, until: float | None) -> None:
        """Calls are answered, and changes taken in, between two batches and while one is read."""

        def is_ending() -> bool:
            return self._closing or (until is not None and time.monotonic() >= until)

        self._pace = (time.monotonic(), len(self._unread))
        with self._marked_building():
            for batch in in_batches(self.workers, work, progress, is_ending):
                with self._refreshing:
                    self._fill_unread(work, batch)
        self.workers.close()
        if not self._closing:
            self.database.fold()

    def _fill_unread(self, work: Work, read: Sequence[Done]) -> None:
        """Publishes what was read, where the content is still the one that waits to be read."""
        with self.database.write() as connection:
            entries = {}
            for path, entry in work.store(connection, read).items():
                now = self._entries.get(path)
                if now is not None and now.blob is None and now.known.digest == entry.known.digest:
                    entries[path] = Entry(now.known, entry.blob)
            self._check_not_overtaken(connection)
            epoch = publish(connection, self._view, self._entries, entries, frozenset())
        self._epoch = epoch or self._epoch
        self._take_entries(entries)

    def _publish_epoch(self, work: Work, read: Sequence[Done], delta: Delta) -> None:
        """One transaction: facts, entries and epoch become visible together or not at all."""
        with self.database.write() as connection:
            work.store(connection, read)
            work.confirm(connection)
            touches = {p: Entry(k, self._entries[p].blob) for p, k in delta.touched.items()}
            entries = {**touches, **work.all()}
            self._check_not_overtaken(connection)
            epoch = publish(connection, self._view, self._entries, entries, delta.removed)
        self._epoch = epoch or self._epoch
        self._take_entries(entries)
        self._keep_up_fingerprint({**dict.fromkeys(delta.removed), **work.all()})
        self._known.update({path: entry.known for path, entry in entries.items()})
        self._unread -= delta.removed
        for path in delta.removed:
            self._entries.pop(path, None)
            self._known.pop(path, None)
        self._tree.settle()

    def _keep_up_fingerprint(self, changed: Mapping[RepoPath, Entry | None]) -> None:
        for path, entry in changed.items():
            if self._fingerprint is not None:
                before = self._known.get(path)
                after = entry.known.digest if entry is not None else None
                self._fingerprint = self._fingerprint.changed(path, before.digest if before else None, after)

    def _check_not_overtaken(self, connection: Connection) -> None:
        # Whoever drops the views of worktrees that are gone may have dropped this one.
        if connection.execute("SELECT 1 FROM view WHERE id = ?", (self._view,)).fetchone() is None:
            raise _Overtaken
        if _last_epoch(connection, self._view) != self._epoch:
            raise _Overtaken

    def _reload_view(self) -> None:
        with self._refreshing:
            self._load_view()
            self._tree.doubt()

    def _load_view(self) -> None:
        """Takes the view from the database, as this or another process left it."""
        with self.database.write() as connection:
            self._view = view_id(connection, self._key)
        with self.database.read() as connection:
            self._epoch = _last_epoch(connection, self._view)
            rows = connection.execute(
                "SELECT path, blob, digest, mtime_ns, size, inode, ctime_ns, mode FROM entry WHERE view = ?",
                (self._view,),
            )
            self._entries, self._unread = {}, set()
            self._take_entries(
                {from_sql(path): Entry(Known(*columns), blob) for path, blob, *columns in rows}
            )
            self._known = {path: entry.known for path, entry in self._entries.items()}
            self._fingerprint = None
            self._may_be_outdated = True

    @contextmanager
    def _marked_building(self) -> Iterator[None]:
        self._building = True
        try:
            yield
        finally:
            self._building = False


class _Overtaken(Exception):
    """Another process has published this view since it was loaded; nothing of this pass is written."""


def _last_epoch(connection: Connection, view: int) -> int:
    return int(
        connection.execute("SELECT coalesce(max(id), 0) FROM epoch WHERE view = ?", (view,)).fetchone()[0]
    )
