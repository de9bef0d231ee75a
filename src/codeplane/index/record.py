"""What the file of an index says of itself, whether or not a process has it open. Nothing is changed."""

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from codeplane.core.fingerprint import Fingerprint
from codeplane.core.paths import RepoPath
from codeplane.index.schema import SCHEMA
from codeplane.index.store import from_sql
from codeplane.storage.database import is_exact, is_planted, reading
from codeplane.working_tree import Known, WorkingTree


class IndexRecord(NamedTuple):
    """The view of a checkout as the last process left it."""

    known: dict[RepoPath, Known]
    unread: int
    epoch: int
    reconciled_ms: int

    def fingerprint(self) -> str:
        return Fingerprint((path, entry.digest) for path, entry in self.known.items()).hex()

    def behind(self, tree: WorkingTree) -> int:
        """How many files of the working tree are others than the index has."""
        delta = tree.reconcile(self.known)
        return len(delta.added) + len(delta.changed) + len(delta.removed)


def index_on_record(file: Path, tree: WorkingTree, view: str) -> IndexRecord | None:
    """The record of a view; None where there is none, or the file is not one of this version's."""
    if is_planted(file) or tree.ships(file.name) or not file.exists():
        return None
    with reading(file) as connection:
        if not is_exact(connection, SCHEMA):
            return None
        head = connection.execute(
            "SELECT view.id, used_ms, max(epoch.id) FROM view JOIN epoch ON epoch.view = view.id"
            " WHERE key = ? GROUP BY view.id",
            (view,),
        ).fetchone()
        if head is None:
            return None
        view_id, reconciled_ms, epoch = head
        rows = connection.execute(
            "SELECT path, blob IS NULL, digest, mtime_ns, size, inode, ctime_ns, mode FROM entry"
            " WHERE view = ?",
            (view_id,),
        ).fetchall()
    entries = {from_sql(path): Known(*entry) for path, _, *entry in rows}
    return IndexRecord(entries, sum(row[1] for row in rows), epoch, reconciled_ms)


def index_version() -> str:
    """Changes whenever an index of another version has to be made anew."""
    return hashlib.sha256(SCHEMA.encode()).hexdigest()[:8]


def index_bytes(file: Path) -> int:
    """What the index takes on disk, with what is not yet folded into its file."""
    total = 0
    for name in (file.name, f"{file.name}-wal"):
        with suppress(OSError):
            total += file.with_name(name).stat().st_size
    return total
