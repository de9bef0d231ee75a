"""SQLite: one write lane, any number of readers, each reader on one snapshot."""

import errno
import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from codeplane.core.errors import IndexBusy, IndexCorrupt, ServerStopping, StateUnusable
from codeplane.storage.files import is_full, unusable

Connection = sqlite3.Connection

_LAST_USE_SEC = 10
_BUSY_SEC = 30


class Database:
    """One database file in WAL mode. Readers never wait for the writer, nor it for them.

    What was written to a durable one is on the disk when the block of the write ends.
    """

    def __init__(self, path: Path, *, durable: bool = False) -> None:
        self.path = path
        self._durable = durable
        self._lane = threading.Lock()
        self._local = threading.local()
        self._opened: dict[threading.Thread, Connection] = {}
        self._state = threading.Condition()
        self._users = 0
        self._closed = False
        self.damage = ""  # what has been found wrong with the file

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A snapshot: everything read in the block is of one moment. Nested blocks share it."""
        with self._use_connection() as connection:
            if connection.in_transaction:
                yield connection
                return
            with self._explain_own_errors():
                connection.execute("BEGIN")
                try:
                    yield connection
                finally:
                    connection.rollback()

    def row(self, query: str, values: Sequence[object] = ()) -> tuple[Any, ...] | None:
        """The first row that a query finds; one statement sees one moment without a transaction around it."""
        with self._use_connection() as connection, self._explain_own_errors():
            rows = connection.execute(query, values).fetchall()
        return rows[0] if rows else None

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """The only way to change the database: whole when the block ends, not at all when it raises."""
        with self._use_connection() as connection:
            assert not connection.in_transaction, "BUG: a write inside a read would wait for itself"
            with self._lane, self._explain_own_errors():
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield connection
                    connection.commit()
                except BaseException:
                    connection.rollback()
                    raise

    def fold(self) -> None:
        """Folds the log into the file as far as readers allow: a long pass leaves as much again in it."""
        with self._use_connection() as connection, self._lane, self._explain_own_errors():
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Lets in nobody else, waits for those inside, then folds the log into the file.

        A connection is never closed under a thread that uses it: SQLite would crash.
        """
        with self._state:
            self._closed = True
            if self._state.wait_for(lambda: self._users == 0, timeout=_LAST_USE_SEC):
                for connection in self._opened.values():
                    connection.close()
                self._opened.clear()

    @contextmanager
    def _use_connection(self) -> Iterator[Connection]:
        with self._state:
            if self._closed:
                raise ServerStopping("The database has been closed.")
            self._users += 1
        try:
            yield self._get_connection()
        finally:
            with self._state:
                self._users -= 1
                self._state.notify_all()

    @contextmanager
    def _explain_own_errors(self) -> Iterator[None]:
        try:
            with _explain_errors(self.path):
                yield
        except IndexCorrupt as error:
            if _error_code(error.__cause__) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                self.damage = error.message
            raise

    def _get_connection(self) -> Connection:
        connection: Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            with self._state, self._explain_own_errors():
                connection = _open_connection(self.path, durable=self._durable)
                self._opened[threading.current_thread()] = connection
                # Not before: closing the last one would fold the log.
                self._drop_unused()
            self._local.connection = connection
        return connection

    def _drop_unused(self) -> None:
        """Closes the connections of threads that have ended: calls come on ever new ones."""
        for thread in [thread for thread in self._opened if not thread.is_alive()]:
            self._opened.pop(thread).close()


def is_exact(connection: Connection, script: str) -> bool:
    """Whether a database was made by this very script."""
    [(made_by,)] = connection.execute("PRAGMA user_version").fetchall()
    return bool(made_by == _schema_number(script))


def _schema_number(script: str) -> int:
    return zlib.crc32(script.encode()) & 0x7FFFFFFF | 1


def open_exact(path: Path, script: str, *, durable: bool = False) -> Database | None:
    """Opens a database that was made by this very script, or makes it; None when another script made it."""
    number = _schema_number(script)
    database = Database(path, durable=durable)
    try:
        with database.write() as connection:
            [(made_by,)] = connection.execute("PRAGMA user_version").fetchall()
            if not made_by:
                for statement in _split_statements(script):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {number}")
    except BaseException:
        database.close()
        raise
    if made_by in (0, number):
        return database
    database.close()
    return None


@contextmanager
def reading(path: Path) -> Iterator[Connection]:
    """A snapshot of a database that others may be writing. Nothing is written to it.

    Where nobody has it open, nothing is written beside it either.
    """
    is_logged = path.with_name(f"{path.name}-wal").exists()
    options = "mode=ro" if is_logged else "mode=ro&immutable=1"
    name = f"file:{quote(os.fsencode(path))}?{options}"
    with _explain_errors(path):
        connection = sqlite3.connect(name, uri=True, timeout=_BUSY_SEC, isolation_level=None)
        try:
            connection.execute("BEGIN")
            yield connection
        finally:
            connection.close()


def is_made_by(connection: Connection, script: str) -> bool:
    """Whether the tables, views and triggers are those of the script, all of them and no others."""
    cursor = connection.execute(
        "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name != 'sqlite_sequence'"
    )
    return sorted(sql for (sql,) in cursor) == sorted(_split_statements(script))


def database_files(path: Path) -> list[Path]:
    """The file of a database and those that SQLite keeps beside it, whether or not they are there."""
    return [path.with_name(path.name + suffix) for suffix in ("", "-wal", "-shm", "-journal")]


def delete_database(path: Path) -> int:
    """Removes the file and its logs; returns the bytes that they held."""
    size = 0
    for file in database_files(path):
        try:
            size += file.lstat().st_size
            file.unlink()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise unusable(file, error) from error
    return size


def is_planted(path: Path) -> bool:
    """Whether something else than a plain file is in the place of a database or its logs: SQLite would follow
    a link to wherever it leads."""
    return any(file.is_symlink() or (file.exists() and not file.is_file()) for file in database_files(path))


def _split_statements(script: str) -> list[str]:
    return [statement.strip() for statement in script.split(";\n") if statement.strip()]


def _open_connection(path: Path, *, durable: bool) -> Connection:
    if is_planted(path):
        raise StateUnusable(f"{path}: something else than a plain file is in its place.", path=str(path))
    # Connections are closed by whoever closes the database, which may be another thread.
    connection = sqlite3.connect(path, timeout=_BUSY_SEC, isolation_level=None, check_same_thread=False)
    _use_wal(connection)
    connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("PRAGMA cache_size = -32000")
    connection.execute(f"PRAGMA wal_autocheckpoint = {1000 if durable else 8000}")
    return connection


def _use_wal(connection: Connection) -> None:
    """The first switch needs the file alone, and SQLite does not wait for that by itself."""
    end = time.monotonic() + _BUSY_SEC
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if _error_code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(0.02)


_UNUSABLE = {
    sqlite3.SQLITE_READONLY: "permission denied",
    sqlite3.SQLITE_PERM: "permission denied",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened: permission denied, or no such directory",
    sqlite3.SQLITE_IOERR: "the system could not read or write it",
}


def _error_code(error: BaseException | None) -> int:
    """SQLite's own code of an error, without its details."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF


def _tells_of_damage(error: sqlite3.OperationalError) -> bool:
    text = str(error).lower()
    return "corrupt" in text or "malformed" in text


@contextmanager
def _explain_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        if _error_code(error) == sqlite3.SQLITE_FULL or (
            _error_code(error) in _UNUSABLE and is_full(path.parent)
        ):
            # SQLite tells of a full disk in several ways: what it could not make room for it cannot open.
            raise unusable(path, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))) from error
        if problem := _UNUSABLE.get(_error_code(error)):
            raise StateUnusable(f"{path}: {problem}.", path=str(path)) from error
        if _error_code(error) == sqlite3.SQLITE_BUSY:
            text = f"Another process has been writing to {path} for {_BUSY_SEC} seconds."
            raise IndexBusy(text, path=str(path)) from error
        if isinstance(error, sqlite3.OperationalError) and not _tells_of_damage(error):
            raise
        if isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError):
            raise
        raise IndexCorrupt(f"{path} is damaged: {error}.", path=str(path)) from error
