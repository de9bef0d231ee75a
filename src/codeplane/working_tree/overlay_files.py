"""Files that are in no working tree: what a workspace in memory has instead of its base, as rows of its own
`state.db`.

A change is written down before it counts, and counts once its row is in the ledger: a start that finds one
asks the ledger what became of it.
"""

import json
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from codeplane.core.documents import parse_json
from codeplane.core.edits import FileChange
from codeplane.core.ids import OperationId
from codeplane.core.paths import Digest, RepoPath
from codeplane.parsing.pack import sql_text
from codeplane.storage.database import Connection, Database

_REVISION: Final = "revision"


class OverlaidFile(NamedTuple):
    """What is at a path; without a digest, nothing is."""

    digest: Digest | None
    size: int
    mode: int


class Pending(NamedTuple):
    """A change that was cut off before it was known to count."""

    operation: OperationId
    note: Mapping[str, object]
    changes: tuple[FileChange, ...]


class OverlayFiles:
    """The rows of one workspace. One process has it open at a time."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._guard = threading.Lock()
        self._files: dict[RepoPath, OverlaidFile] | None = None

    def all(self) -> Mapping[RepoPath, OverlaidFile]:
        """What is otherwise than in the base, by path."""
        with self._guard:
            if self._files is None:
                self._files = self._load()
            return self._files

    @property
    def revision(self) -> int:
        """How many changes have counted since the workspace was made or reset."""
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT value FROM overlay_state WHERE name = ?", (_REVISION,)
            ).fetchone()
        return int(row[0]) if row is not None else 0

    def begin(
        self,
        operation: OperationId,
        note: Mapping[str, object],
        changes: Iterable[tuple[FileChange, OverlaidFile]],
    ) -> None:
        """Writes down what is about to change."""
        body = {
            "note": note,
            "changes": [
                [_text(one.path), one.before, file.digest, file.size, file.mode] for one, file in changes
            ],
        }
        with self._database.write() as connection:
            connection.execute("INSERT INTO overlay_change VALUES (?, ?)", (operation, json.dumps(body)))

    def finish(self, operation: OperationId, base: Callable[[RepoPath], OverlaidFile | None]) -> None:
        """Has a change count; what is as in the base again needs no row."""
        with self._database.write() as connection:
            row = connection.execute(
                "SELECT changes FROM overlay_change WHERE operation = ?", (operation,)
            ).fetchone()
            if row is None:
                return
            for text, _, digest, size, mode in parse_json(row[0])["changes"]:
                path = _from_hex(text)
                _put(connection, path, OverlaidFile(digest, size, mode), base(path))
            connection.execute("DELETE FROM overlay_change WHERE operation = ?", (operation,))
            connection.execute(
                "INSERT INTO overlay_state VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET value = value + 1",
                (_REVISION,),
            )
        with self._guard:
            self._files = None

    def drop(self, operation: OperationId) -> None:
        """Forgets a change that did not come about."""
        with self._database.write() as connection:
            connection.execute("DELETE FROM overlay_change WHERE operation = ?", (operation,))

    def pending(self) -> list[Pending]:
        """Changes that were cut off."""
        with self._database.read() as connection:
            rows = connection.execute("SELECT operation, changes FROM overlay_change").fetchall()
        cut_off = []
        for operation, text in rows:
            body = parse_json(text)
            changes = tuple(
                FileChange(_from_hex(path), before, after) for path, before, after, *_ in body["changes"]
            )
            cut_off.append(Pending(OperationId(operation), body["note"], changes))
        return cut_off

    def begin_anew(self) -> None:
        """Counts revisions from 0 again."""
        with self._database.write() as connection:
            connection.execute("DELETE FROM overlay_state")

    def clear(self) -> None:
        """Everything is as in the base again, and revisions begin anew."""
        with self._database.write() as connection:
            connection.execute("DELETE FROM overlay_file")
            connection.execute("DELETE FROM overlay_change")
            connection.execute("DELETE FROM overlay_state")
        with self._guard:
            self._files = None

    def _load(self) -> dict[RepoPath, OverlaidFile]:
        with self._database.read() as connection:
            rows = connection.execute("SELECT path, digest, size, mode FROM overlay_file").fetchall()
        return {_path(path): OverlaidFile(digest, size, mode) for path, digest, size, mode in rows}


def _put(connection: Connection, path: RepoPath, file: OverlaidFile, base: OverlaidFile | None) -> None:
    key = sql_text(path)
    if (base.digest if base is not None else None) == file.digest and (
        base is None or base.mode == file.mode
    ):
        connection.execute("DELETE FROM overlay_file WHERE path = ?", (key,))
    else:
        connection.execute("INSERT OR REPLACE INTO overlay_file VALUES (?, ?, ?, ?)", (key, *file))


def _text(path: RepoPath) -> str:
    """A path as JSON can have it, whatever its bytes."""
    return path.encode("utf-8", "surrogateescape").hex()


def _from_hex(text: str) -> RepoPath:
    return RepoPath(bytes.fromhex(text).decode("utf-8", "surrogateescape"))


def _path(stored: str | bytes) -> RepoPath:
    if isinstance(stored, bytes):
        return RepoPath(stored.decode("utf-8", "surrogateescape"))
    return RepoPath(stored)
