"""Views that differ from another one in some files: contents that are not in the working tree, on top of it
or of a commit.

Such a view has entries of its own, so that it is asked like any other. What is made of one view is never
taken for another: a view has epochs of its own from its beginning, and no epoch is given twice.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from codeplane.core.errors import ContentChanged, ServerStopping
from codeplane.core.paths import Digest, RepoPath
from codeplane.index.store import Entry, from_sql, now_ms, publish, view_id
from codeplane.index.work import Work, in_batches
from codeplane.languages import readers_version
from codeplane.parsing.pack import sql_text
from codeplane.parsing.workers import Workers
from codeplane.storage.database import Connection, Database
from codeplane.working_tree import Known

_PREFIX: Final = "overlay:"
_MOST_VIEWS: Final = 12
_MOST_ATTEMPTS: Final = 5
_FILE_MODE: Final = 0o100644
_NOTED_SEC: Final = 60.0


class OverlayFile(NamedTuple):
    """What a path has instead of what is below it."""

    digest: Digest
    size: int
    read: Callable[[], bytes]


Files = Mapping[RepoPath, OverlayFile | None]
"""What is different: a content for a path, or None for a path less."""


class BaseView(NamedTuple):
    """The view below an overlay; `epoch` is 0 for a commit."""

    view: int
    epoch: int


class Layered(NamedTuple):
    """An overlay's view at an epoch of its own."""

    view: int
    epoch: int
    base: BaseView


class _Last(NamedTuple):
    """What an overlay was when it was last asked for, and its view."""

    base: BaseView
    digests: Mapping[RepoPath, Digest | None]
    layer: Layered
    noted_at: float  # when its use was written down


class OverlayViews:
    """Makes them and keeps the last ones."""

    def __init__(self, database: Database, workers: Workers) -> None:
        self._database, self._workers = database, workers
        self._making = threading.Lock()
        self._last: OrderedDict[str, _Last] = OrderedDict()
        self._closing = False

    def close(self) -> None:
        """Ends a pass that runs, after the files that it has just read."""
        self._closing = True

    def view_of(self, key: str, find_base: Callable[[], BaseView], files: Files) -> Layered:
        """The view of an overlay, as new as its base and its files are.

        A key means one overlay. Where its files are others than they were, what differs is published.
        """
        digests = {path: file.digest if file is not None else None for path, file in files.items()}
        with self._making:
            for _ in range(_MOST_ATTEMPTS):
                base = find_base()
                layer = self._find_last(key, base, digests) or self._bring_up(key, base, files)
                if layer is not None:
                    self._note(key, _Last(base, digests, layer, time.monotonic()))
                    return layer
        raise ContentChanged("The state changed while it was read.")

    def _find_last(
        self, key: str, base: BaseView, digests: Mapping[RepoPath, Digest | None]
    ) -> Layered | None:
        """The view as it was last made, if it is still there and nothing is different."""
        last = self._last.get(key)
        if last is None or (last.base, last.digests) != (base, digests):
            return None
        if time.monotonic() - last.noted_at > _NOTED_SEC:
            return None  # its use is to be written down
        with self._database.read() as connection:
            return last.layer if is_there(connection, last.layer) else None

    def _note(self, key: str, last: _Last) -> None:
        before = self._last.pop(key, None)
        is_same = before is not None and before.layer == last.layer
        self._last[key] = before if before is not None and is_same and _is_recent(before) else last
        while len(self._last) > _MOST_VIEWS:
            self._last.popitem(last=False)

    def _bring_up(self, key: str, base: BaseView, files: Files) -> Layered | None:
        work = Work(_OverlayContents(files), _known_files(files))
        with self._database.read() as connection:
            work.find_known(connection)
        for batch in in_batches(self._workers, work, None, lambda: self._closing):
            with self._database.write() as connection:
                work.store(connection, batch)
        if self._closing:
            raise ServerStopping("The index is being closed.")
        with self._database.write() as connection:
            if not work.confirm(connection) or not _is_current(connection, base):
                return None
            view = view_id(connection, f"{_PREFIX}{key}")
            begin = _last_epoch(connection, view) or _begin(connection, view, base)
            removals = [path for path, file in files.items() if file is None]
            epoch = _settle(connection, view, base, work.all(), removals) or begin
            connection.execute("UPDATE view SET complete = 1, used_ms = ? WHERE id = ?", (now_ms(), view))
            _drop_oldest(connection, view)
            return Layered(view, epoch, base)


class _OverlayContents:
    """The contents of an overlay as a source, each read when it is needed."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def read(self, path: RepoPath, known: Known) -> bytes | None:  # noqa: ARG002 - they are the known ones
        file = self._files[path]
        return file.read() if file is not None else None

    def beginning(self, path: RepoPath, known: Known) -> bytes:
        return self.read(path, known) or b""


def _is_recent(last: _Last) -> bool:
    return time.monotonic() - last.noted_at <= _NOTED_SEC


def is_there(connection: Connection, layer: Layered) -> bool:
    """Whether a view is still as it was made, in the read that asks."""
    return _last_epoch(connection, layer.view) == layer.epoch


def begin_view(connection: Connection, key: str, base: BaseView) -> None:
    """Has a view of that key begin as a copy of another one, unless there is one."""
    view = view_id(connection, key)
    if _last_epoch(connection, view) is None:
        _begin(connection, view, base)


def files_of(connection: Connection, view: int) -> dict[RepoPath, Known]:
    """The files of a view, without the times that a working tree has for them."""
    rows = connection.execute("SELECT path, digest, size, mode FROM entry WHERE view = ?", (view,))
    return {from_sql(path): Known(Digest(digest), 0, size, 0, 0, mode) for path, digest, size, mode in rows}


def overlay_key(name: str, base: str) -> str:
    """The key of an overlay with a name on a base; facts of another version of the readers are others."""
    return f"{name}:{base}:{readers_version()}"


def drop_overlays(connection: Connection, oldest_ms: int) -> int:
    """Drops the views of overlays that have not been used since; they are made again when asked for."""
    rows = connection.execute(
        "SELECT id FROM view WHERE key LIKE ? AND used_ms < ?", (f"{_PREFIX}%", oldest_ms)
    ).fetchall()
    for (view,) in rows:
        _drop(connection, view)
    return len(rows)


def _known_files(files: Files) -> dict[RepoPath, Known]:
    return {
        path: Known(file.digest, 0, file.size, 0, 0, _FILE_MODE)
        for path, file in files.items()
        if file is not None
    }


def _is_current(connection: Connection, base: BaseView) -> bool:
    row = connection.execute(
        "SELECT (SELECT coalesce(max(id), 0) FROM epoch WHERE view = ?1) FROM view WHERE id = ?1",
        (base.view,),
    ).fetchone()
    return row is not None and (not base.epoch or row[0] == base.epoch)


def _last_epoch(connection: Connection, view: int) -> int | None:
    row = connection.execute("SELECT max(id) FROM epoch WHERE view = ?", (view,)).fetchone()
    return None if row[0] is None else int(row[0])


def _begin(connection: Connection, view: int, base: BaseView) -> int:
    """A new view begins as a copy of its base, with an epoch of its own."""
    connection.execute("DELETE FROM item WHERE view = ?", (view,))
    connection.execute(
        "INSERT INTO entry SELECT ?, path, digest, blob, mtime_ns, size, inode, ctime_ns, mode"
        " FROM entry WHERE view = ?",
        (view, base.view),
    )
    connection.execute("DELETE FROM gap WHERE view = ?", (view,))
    connection.execute(
        "INSERT INTO gap SELECT ?, path, kind, detail FROM gap WHERE view = ?", (view, base.view)
    )
    insert = connection.execute("INSERT INTO epoch (view, at_ms) VALUES (?, ?)", (view, now_ms()))
    return int(insert.lastrowid or 0)


def _settle(
    connection: Connection,
    view: int,
    base: BaseView,
    entries: dict[RepoPath, Entry],
    removals: list[RepoPath],
) -> int | None:
    """Publishes what the view has otherwise than it should: a new epoch, or None where nothing differs."""
    before = _own_entries(connection, view, base)
    for path in [*entries, *removals]:
        entry = _entry(connection, view, path) if path not in before else before[path]
        if entry is not None:
            before[path] = entry
    # What an older revision had changed is again as the base has it.
    restorations, removed_paths = {}, [path for path in removals if path in before]
    for path in before.keys() - entries.keys() - set(removals):
        entry = _entry(connection, base.view, path)
        if entry is None:
            removed_paths.append(path)
        else:
            restorations[path] = entry
    for path in _missing(connection, view, base) - entries.keys() - set(removals):
        entry = _entry(connection, base.view, path)
        assert entry is not None, "BUG: what a view lacks of its base is in the base"
        restorations[path] = entry
    connection.executemany(
        "DELETE FROM gap WHERE view = ? AND path = ?",
        [(view, sql_text(path)) for path in [*entries, *removals]],
    )
    different = {
        path: entry
        for path, entry in {**restorations, **entries}.items()
        if path not in before or _content_of(before[path]) != _content_of(entry)
    }
    return publish(connection, view, before, different, removed_paths)


def _content_of(entry: Entry) -> tuple[int | None, Digest]:
    return entry.blob, entry.known.digest


def _own_entries(connection: Connection, view: int, base: BaseView) -> dict[RepoPath, Entry]:
    """The entries of a view that its base has not, or otherwise."""
    rows = connection.execute(
        "SELECT o.path, o.blob, o.digest, o.mtime_ns, o.size, o.inode, o.ctime_ns, o.mode FROM entry o"
        " LEFT JOIN entry b ON b.view = ? AND b.path = o.path"
        " WHERE o.view = ? AND (b.path IS NULL OR b.digest <> o.digest OR b.blob IS NOT o.blob)",
        (base.view, view),
    )
    return {from_sql(path): Entry(Known(*columns), blob) for path, blob, *columns in rows}


def _missing(connection: Connection, view: int, base: BaseView) -> set[RepoPath]:
    """The paths of a base that its view has not."""
    rows = connection.execute(
        "SELECT b.path FROM entry b LEFT JOIN entry o ON o.view = ? AND o.path = b.path"
        " WHERE b.view = ? AND o.path IS NULL",
        (view, base.view),
    )
    return {from_sql(path) for (path,) in rows}


def _entry(connection: Connection, view: int, path: RepoPath) -> Entry | None:
    row = connection.execute(
        "SELECT blob, digest, mtime_ns, size, inode, ctime_ns, mode FROM entry WHERE view = ? AND path = ?",
        (view, sql_text(path)),
    ).fetchone()
    return Entry(Known(*row[1:]), row[0]) if row is not None else None


def _drop_oldest(connection: Connection, current: int) -> None:
    rows = connection.execute(
        "SELECT id FROM view WHERE key LIKE ? AND id <> ? ORDER BY used_ms DESC, id DESC LIMIT -1 OFFSET ?",
        (f"{_PREFIX}%", current, _MOST_VIEWS - 1),
    ).fetchall()
    for (view,) in rows:
        _drop(connection, view)


def _drop(connection: Connection, view: int) -> None:
    connection.execute("DELETE FROM change WHERE epoch IN (SELECT id FROM epoch WHERE view = ?)", (view,))
    for table, column in (("epoch", "view"), ("item", "view"), ("gap", "view"), ("view", "id")):
        connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (view,))
