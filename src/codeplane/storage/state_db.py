"""`state.db`: what CodePlane has learnt and a rebuild of the index must not lose, by numbered migrations."""

from pathlib import Path
from typing import Final

from codeplane.core.errors import StateUnusable
from codeplane.storage.database import Database

MIGRATIONS: Final = (
    """CREATE TABLE test_cost (
        runner TEXT NOT NULL, target TEXT NOT NULL, seconds TEXT NOT NULL, used_ms INTEGER NOT NULL,
        PRIMARY KEY (runner, target)
    ) WITHOUT ROWID""",
    """CREATE TABLE test_shape (
        id INTEGER PRIMARY KEY, path TEXT NOT NULL, digest TEXT NOT NULL, blocks TEXT NOT NULL,
        UNIQUE (path, digest)
    )""",
    """CREATE TABLE test_record (
        test TEXT PRIMARY KEY, blocks TEXT NOT NULL, is_open INTEGER NOT NULL, used_ms INTEGER NOT NULL
    ) WITHOUT ROWID""",
    "ALTER TABLE test_record ADD COLUMN has_failed INTEGER NOT NULL DEFAULT 0",
    """CREATE TABLE cursor (
        cursor TEXT PRIMARY KEY, tool TEXT NOT NULL, steps TEXT NOT NULL, made_ms INTEGER NOT NULL
    )""",
    """CREATE TABLE test_baseline (
        test TEXT PRIMARY KEY, failure TEXT NOT NULL, at_commit TEXT NOT NULL, used_ms INTEGER NOT NULL
    ) WITHOUT ROWID""",
)
"""One statement each. One that has been released is never changed; what comes later is added at the end."""


def open_state_db(path: Path) -> Database:
    """Opens the file, and brings it to the last migration."""
    database = Database(path)
    try:
        with database.write() as connection:
            [(done,)] = connection.execute("PRAGMA user_version").fetchall()
            if done > len(MIGRATIONS):
                raise StateUnusable(f"{path} was made by a later version of CodePlane.", path=str(path))
            for statement in MIGRATIONS[done:]:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    except BaseException:
        database.close()
        raise
    return database
