"""`state.db`: what CodePlane has learnt and a rebuild of the index must not lose, by numbered migrations."""

from pathlib import Path
from typing import Final

from codeplane.core.errors import StateUnusable
from codeplane.storage.database import Connection, Database

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
    """CREATE TABLE plan (
        id TEXT PRIMARY KEY, kind TEXT NOT NULL, version TEXT NOT NULL, parent TEXT, body TEXT NOT NULL,
        digest TEXT NOT NULL, size INTEGER NOT NULL, made_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL
    )""",
    """CREATE TABLE plan_content (
        plan TEXT NOT NULL, digest TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (plan, digest)
    )""",
    """CREATE TABLE decision (
        signature TEXT PRIMARY KEY, files TEXT NOT NULL, selected TEXT NOT NULL, proof TEXT NOT NULL,
        made_ms INTEGER NOT NULL
    )""",
    "CREATE TABLE origin (inode INTEGER NOT NULL)",
    """CREATE TABLE work_plan (
        id TEXT PRIMARY KEY, revision INTEGER NOT NULL, size INTEGER NOT NULL, digest TEXT NOT NULL,
        made_ms INTEGER NOT NULL, changed_ms INTEGER NOT NULL
    )""",
    """CREATE TABLE work_item (
        id TEXT PRIMARY KEY, plan TEXT NOT NULL, level TEXT NOT NULL, type TEXT NOT NULL, state TEXT NOT NULL,
        title TEXT NOT NULL, description TEXT, key TEXT, fields TEXT NOT NULL, layout TEXT NOT NULL,
        digest TEXT NOT NULL
    )""",
    "CREATE INDEX work_item_plan ON work_item (plan)",
    """CREATE TABLE work_link (
        plan TEXT NOT NULL, writer TEXT NOT NULL, kind TEXT NOT NULL, source TEXT NOT NULL,
        target TEXT NOT NULL, place INTEGER NOT NULL, PRIMARY KEY (plan, writer, kind, source, target)
    ) WITHOUT ROWID""",
    """CREATE TABLE work_derived (
        item TEXT PRIMARY KEY, plan TEXT NOT NULL, value TEXT NOT NULL, digest TEXT NOT NULL
    )""",
    "CREATE INDEX work_derived_plan ON work_derived (plan)",
    "ALTER TABLE work_item ADD COLUMN written_delta TEXT",
    """CREATE TABLE controller_run (
        work_id TEXT PRIMARY KEY, run_session_id TEXT NOT NULL, agent_id TEXT NOT NULL, state TEXT NOT NULL,
        plan TEXT, tokens INTEGER NOT NULL, turns INTEGER NOT NULL, body TEXT NOT NULL,
        made_ms INTEGER NOT NULL, changed_ms INTEGER NOT NULL
    )""",
    """CREATE TABLE controller_evidence (
        handle TEXT PRIMARY KEY, work_id TEXT NOT NULL, category TEXT NOT NULL, source TEXT NOT NULL,
        first_line INTEGER NOT NULL, last_line INTEGER NOT NULL, digest TEXT NOT NULL, quote TEXT NOT NULL,
        made_ms INTEGER NOT NULL
    )""",
    "CREATE INDEX controller_evidence_run ON controller_evidence (work_id, source)",
    """CREATE TABLE controller_reservation (
        kind TEXT NOT NULL, resource TEXT NOT NULL, work_id TEXT NOT NULL, agent_id TEXT NOT NULL,
        node TEXT NOT NULL, renewed_ms INTEGER NOT NULL, expires_ms INTEGER NOT NULL,
        PRIMARY KEY (kind, resource)
    ) WITHOUT ROWID""",
    """CREATE TABLE memory (
        id TEXT PRIMARY KEY, state TEXT NOT NULL, enforcement TEXT NOT NULL, dedupe_key TEXT NOT NULL UNIQUE,
        count INTEGER NOT NULL, body TEXT NOT NULL, made_ms INTEGER NOT NULL, changed_ms INTEGER NOT NULL,
        trace TEXT NOT NULL, source TEXT NOT NULL
    )""",
    """CREATE TABLE memory_change (
        number INTEGER PRIMARY KEY, memory TEXT NOT NULL, event TEXT NOT NULL, old_state TEXT, new_state TEXT,
        actor TEXT NOT NULL, reason TEXT NOT NULL, at_ms INTEGER NOT NULL
    )""",
    """CREATE TABLE friction (
        number INTEGER PRIMARY KEY, work_id TEXT NOT NULL, trigger TEXT NOT NULL, code TEXT NOT NULL,
        anchor TEXT NOT NULL, strategy TEXT NOT NULL, memory TEXT, is_resolved INTEGER NOT NULL,
        body TEXT NOT NULL, at_ms INTEGER NOT NULL
    )""",
    "CREATE INDEX friction_signature ON friction (code, anchor, strategy)",
    "CREATE INDEX friction_run ON friction (work_id)",
    """CREATE TABLE workspace (
        id TEXT PRIMARY KEY, kind TEXT NOT NULL, base_commit TEXT NOT NULL, base_name TEXT NOT NULL,
        branch TEXT, has_made_branch INTEGER NOT NULL, worktree TEXT, created_ms INTEGER NOT NULL,
        used_ms INTEGER NOT NULL, revision INTEGER NOT NULL, epoch INTEGER NOT NULL,
        port_offset INTEGER NOT NULL
    ) WITHOUT ROWID""",
    """CREATE TABLE overlay_file (
        path TEXT PRIMARY KEY, digest TEXT, size INTEGER NOT NULL, mode INTEGER NOT NULL
    ) WITHOUT ROWID""",
    "CREATE TABLE overlay_change (operation TEXT PRIMARY KEY, changes TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE overlay_state (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
)
"""One statement each. One that has been released is never changed; what comes later is added at the end."""


_FOREIGN_TABLES: Final = (
    "plan",
    "plan_content",
    "decision",
    "work_derived",
    "controller_run",
    "controller_evidence",
    "controller_reservation",
    "memory",
    "memory_change",
    "friction",
    "workspace",
    "overlay_file",
    "overlay_change",
    "overlay_state",
    "origin",
)


def open_state_db(path: Path) -> Database:
    """Opens the file, and brings it to the last migration."""
    database = Database(path)
    try:
        with database.write() as connection:
            [(version,)] = connection.execute("PRAGMA user_version").fetchall()
            if version > len(MIGRATIONS):
                raise StateUnusable(f"{path} was made by a later version of CodePlane.", path=str(path))
            for statement in MIGRATIONS[version:]:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
            _drop_foreign_rows(connection, path)
    except BaseException:
        database.close()
        raise
    return database


def _drop_foreign_rows(connection: Connection, path: Path) -> None:
    """Drops plans, decisions, runs, memories and workspaces of a clone or copy: they were made elsewhere.

    Plans of work are what people wrote, and stay. What was derived of them goes: it has to be found out here.
    """
    inode = path.stat().st_ino
    if connection.execute("SELECT inode FROM origin").fetchall() == [(inode,)]:
        return
    for table in _FOREIGN_TABLES:
        connection.execute(f"DELETE FROM {table}")  # noqa: S608 - the names are those above
    connection.execute("INSERT INTO origin (inode) VALUES (?)", (inode,))
