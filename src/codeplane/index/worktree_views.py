"""The views of the worktrees that share an index: how far each is, what only it holds, and dropping one."""

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from codeplane.parsing.pack import sql_text
from codeplane.storage.database import Connection, Database

WORKING_VIEW: Final = "worktree"
_LINKED: Final = f"{WORKING_VIEW}:"


class OwnPart(NamedTuple):
    """What an index holds for one view alone."""

    files: int
    size: int  # of these files


def linked_view(worktree: str) -> str:
    """The key of a linked worktree's view, by the name that git has for it."""
    return f"{_LINKED}{worktree}"


def epoch_of(database: Database, key: str) -> int:
    """The last epoch of a view; 0 where it has none."""
    with database.read() as connection:
        [(epoch,)] = connection.execute(
            "SELECT coalesce(max(epoch.id), 0) FROM epoch JOIN view ON view.id = epoch.view WHERE key = ?",
            (key,),
        ).fetchall()
    return int(epoch)


def own_part(database: Database, key: str) -> OwnPart | None:
    """What would be dropped with a view; None where there is no such view."""
    with database.read() as connection:
        row = connection.execute("SELECT id FROM view WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        blobs = connection.execute(
            "SELECT blob, size FROM item e WHERE view = ? AND blob IS NOT NULL AND NOT EXISTS"
            " (SELECT 1 FROM item o WHERE o.blob = e.blob AND o.view <> e.view)",
            row,
        ).fetchall()
    return OwnPart(len(blobs), sum(size for _, size in blobs))


def count_definitions(database: Database, key: str, paths: Iterable[str]) -> int | None:
    """How many definitions are in some files of a view; None where there is no such view."""
    with database.read() as connection:
        row = connection.execute("SELECT id FROM view WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        query = (
            "SELECT count(*) FROM entry e JOIN definition d ON d.blob = e.blob WHERE view = ? AND path = ?"
        )
        counts = [connection.execute(query, (row[0], sql_text(path))).fetchone()[0] for path in paths]
    return int(sum(counts))


def has_semantic_facts(database: Database) -> bool:
    """Whether any indexer has said anything about any content."""
    with database.read() as connection:
        return connection.execute("SELECT 1 FROM semantic_fact LIMIT 1").fetchone() is not None


def orphaned_views(database: Database, worktrees: Collection[str]) -> list[str]:
    """The views of linked worktrees that git does not have any more."""
    with database.read() as connection:
        rows = connection.execute("SELECT key FROM view WHERE key LIKE ? || '%'", (_LINKED,)).fetchall()
    return sorted(key for (key,) in rows if key.removeprefix(_LINKED) not in worktrees)


def drop_view(database: Database, key: str) -> bool:
    """Forgets a view; facts that nobody else has go with the next collection. Tells whether there was one."""
    with database.write() as connection:
        row = connection.execute("SELECT id FROM view WHERE key = ?", (key,)).fetchone()
        if row is None:
            return False
        _delete_rows(connection, row[0], key)
    return True


def _delete_rows(connection: Connection, view: int, key: str) -> None:
    connection.execute("DELETE FROM change WHERE epoch IN (SELECT id FROM epoch WHERE view = ?)", (view,))
    for table, column in (("epoch", "view"), ("item", "view"), ("gap", "view"), ("view", "id")):
        connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (view,))
    connection.execute("DELETE FROM refresh_job WHERE view = ?", (key,))
