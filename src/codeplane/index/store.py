"""Writing the index: blobs with their facts, and what a view maps paths to."""

import time
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.parsing.pack import Packed, sql_text
from codeplane.storage.database import Connection
from codeplane.working_tree import Gap, Known

_MOST_CHANGES: Final = 2_000  # up to which what is known is carried over to the next epoch


class BlobKey(NamedTuple):
    """What facts belong to: content, read as a language, by one version of the extractor."""

    digest: str
    language: str
    extractor: str


class Parsed(NamedTuple):
    """How far a content can be parsed: `ok`, `partial`, `failed` or `skipped`, and why not whole."""

    state: str
    reason: str


def parsed_of(connection: Connection, blobs: Mapping[RepoPath, int | None]) -> dict[RepoPath, Parsed]:
    """How far the files with these blobs were parsed, where a language reads them."""
    files = {}
    for path, blob in blobs.items():
        row = connection.execute(
            "SELECT state, reason FROM blob WHERE id = ? AND language <> ''", (blob,)
        ).fetchone()
        if row is not None:
            files[path] = Parsed(*row)
    return files


def view_id(connection: Connection, key: str) -> int:
    """The number of a view, made on first use."""
    row = connection.execute("SELECT id FROM view WHERE key = ?", (key,)).fetchone()
    if row is None:
        insert = connection.execute(
            "INSERT INTO view (key, complete, used_ms) VALUES (?, 0, ?)", (key, now_ms())
        )
        return int(insert.lastrowid or 0)
    return int(row[0])


def known_blobs(connection: Connection, keys: Iterable[BlobKey]) -> dict[BlobKey, int]:
    """The keys whose facts are there already."""
    ids = {}
    for key in keys:
        row = connection.execute(
            "SELECT id FROM blob WHERE digest = ? AND language = ? AND extractor = ?", key
        ).fetchone()
        if row is not None:
            ids[key] = int(row[0])
    return ids


def add_blobs(connection: Connection, blobs: Iterable[tuple[BlobKey, int, Packed]]) -> dict[BlobKey, int]:
    """Writes facts, all tables in step."""
    ids: dict[BlobKey, int] = {}
    rows = _Rows()
    blob = _last_blob(connection)
    for key, size, facts in blobs:
        blob += 1
        ids[key] = blob
        rows.take(blob, key, size, facts)
    rows.write(connection)
    return ids


class _Rows:
    """The rows of several blobs, gathered so that each table is written in one go."""

    def __init__(self) -> None:
        self._tables: dict[str, list[tuple[object, ...]]] = {table: [] for table in _WIDTHS}

    def take(self, blob: int, key: BlobKey, size: int, packed: Packed) -> None:
        tables = self._tables
        tables["blob"].append((blob, *key, size, *packed[:8]))
        if packed.names:
            tables["ref"].append((blob, packed.names, packed.occurrences))
        for table, facts in (
            ("definition", packed.definitions),
            ("import", packed.imports),
            ("export", packed.exports),
            ("dynamic", packed.dynamics),
            ("written", packed.written),
        ):
            tables[table] += [(blob, at, *row) for at, row in enumerate(facts)]
        if packed.words:
            tables["word"].append((blob, packed.words))

    def write(self, connection: Connection) -> None:
        for table, rows in self._tables.items():
            columns = "(rowid, text)" if table == "word" else ""
            connection.executemany(
                f"INSERT INTO {table} {columns} VALUES ({_placeholder_list(_WIDTHS[table])})", rows
            )


_WIDTHS = {
    "blob": 13, "definition": 19, "import": 11, "export": 6, "dynamic": 7, "written": 3, "ref": 3, "word": 2,
}  # fmt: skip


class Entry(NamedTuple):
    """What a view holds for a path: the file as it was seen, and its facts, or None before they are read."""

    known: Known
    blob: int | None


def publish(
    connection: Connection,
    view: int,
    before: Mapping[RepoPath, Entry],
    entries: Mapping[RepoPath, Entry],
    removed: Iterable[RepoPath],
) -> int | None:
    """Maps paths to blobs and records what changed as an epoch; None when nothing that shows did."""
    _put_entries(connection, view, entries)
    connection.executemany(
        "DELETE FROM entry WHERE view = ? AND path = ?", [(view, sql_text(path)) for path in removed]
    )
    changes = []
    for path, entry in entries.items():
        old = before.get(path)
        if old is None or old.blob != entry.blob:
            changes.append((sql_text(path), old.blob if old else None, entry.blob))
    changes += [(sql_text(path), before[path].blob, None) for path in removed if path in before]
    if not changes:
        return None
    row = connection.execute("INSERT INTO epoch (view, at_ms) VALUES (?, ?)", (view, now_ms()))
    epoch = int(row.lastrowid or 0)
    earlier = connection.execute("SELECT 1 FROM epoch WHERE view = ? AND id < ?", (view, epoch)).fetchone()
    if not before and earlier is None:
        return epoch  # nobody can ask what was before the first; a view that was emptied had files before
    connection.executemany("INSERT INTO change VALUES (?, ?, ?, ?)", [(epoch, *change) for change in changes])
    return epoch


def publish_whole(
    connection: Connection, view: int, entries: Mapping[RepoPath, Entry], gaps: Iterable[Gap]
) -> None:
    """Makes a view that never changes again, in one go: a commit's."""
    for table in ("item", "gap"):
        connection.execute(f"DELETE FROM {table} WHERE view = ?", (view,))
    _put_entries(connection, view, entries)
    connection.executemany(
        "INSERT INTO gap VALUES (?, ?, ?, ?)",
        [(view, sql_text(gap.path), gap.kind, gap.detail) for gap in gaps],
    )
    connection.execute("UPDATE view SET complete = 1, used_ms = ? WHERE id = ?", (now_ms(), view))


def is_kept(connection: Connection, view: int, epoch: int) -> bool:
    """Whether everything that changed after an epoch of a view is still on record."""
    row = connection.execute("SELECT 1 FROM epoch WHERE id = ? AND view = ?", (epoch, view)).fetchone()
    return row is not None


class Change(NamedTuple):
    """One path between two epochs: what others see of its content, and whether it could be read."""

    path: RepoPath
    interfaces: tuple[str | None, str | None]  # before and after; None where there is none or it is unread
    sound: tuple[bool | None, bool | None]
    blob: int | None
    old_blob: int | None


def changes_between(connection: Connection, view: int, known: int, epoch: int) -> list[Change] | None:
    """What changed after an epoch up to another; None where that is too much, or no longer on record."""
    if known > epoch or not is_kept(connection, view, known):
        return None
    rows = connection.execute(
        "SELECT c.path, b.language || b.interface, a.language || a.interface,"
        " b.state <> 'failed' AND b.size > 0, a.state <> 'failed' AND a.size > 0, c.after, c.before"
        " FROM epoch e JOIN change c ON c.epoch = e.id"
        " LEFT JOIN blob b ON b.id = c.before LEFT JOIN blob a ON a.id = c.after"
        " WHERE e.view = ? AND e.id > ? AND e.id <= ? ORDER BY e.id LIMIT ?",
        (view, known, epoch, _MOST_CHANGES + 1),
    ).fetchall()
    if len(rows) > _MOST_CHANGES:
        return None
    return [Change(from_sql(row[0]), tuple(row[1:3]), tuple(row[3:5]), *row[5:]) for row in rows]


def from_sql(stored: str | bytes) -> RepoPath:
    """What `sql_text` was given."""
    return RepoPath(stored if isinstance(stored, str) else stored.decode("utf-8", "surrogateescape"))


def now_ms() -> int:
    return int(time.time() * 1000)


def _last_blob(connection: Connection) -> int:
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'blob'").fetchone()
    return int(row[0]) if row else 0


def _put_entries(connection: Connection, view: int, entries: Mapping[RepoPath, Entry]) -> None:
    connection.executemany(
        f"INSERT OR REPLACE INTO entry VALUES ({_placeholder_list(9)})",
        [(view, sql_text(path), e.known.digest, e.blob, *e.known[1:]) for path, e in entries.items()],
    )


def _placeholder_list(count: int) -> str:
    return ", ".join("?" * count)
