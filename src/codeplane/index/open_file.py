"""The file of an index: opened where it is sound, made anew where it is not, checked, deleted."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from codeplane.contexts.contexts import Override, Probed
from codeplane.core.errors import IndexBusy, IndexCorrupt
from codeplane.core.paths import RepoPath
from codeplane.index.contents import read_exact
from codeplane.index.gc import faults
from codeplane.index.schema import SCHEMA
from codeplane.index.view.units import find_units
from codeplane.parsing.pack import sql_text
from codeplane.storage.database import Database, delete_database, is_exact, is_planted, open_exact, reading
from codeplane.storage.files import read_small, write_private
from codeplane.storage.lease import Lease
from codeplane.working_tree import WorkingTree

_LONGEST_MARK: Final = 1000


def open_file(file: Path, lease: Lease, tree: WorkingTree) -> tuple[Database, str]:
    """The database; one that is damaged, of another schema or not CodePlane's own is made anew, and why is
    told."""
    if damage := read_small(_mark_path(file), _LONGEST_MARK):
        database, problem = None, damage.decode("utf-8", "replace")
    elif tree.ships(file.name):
        database, problem = None, "git tracks it, and what it says is the repository's word"
    else:
        database, problem = _open_sound(file)
    if database is None:
        _delete_index(file, lease)
        database = open_exact(file, SCHEMA)
        assert database is not None, "BUG: a new database has the current schema"
        lease.share()
    return database, problem


def mark_damaged(file: Path, damage: str) -> None:
    """Has the next start make the index anew: its own check does not find every damage."""
    with suppress(OSError):  # where nothing can be written, nothing can be made anew either
        write_private(_mark_path(file), damage.encode()[:_LONGEST_MARK])


def _mark_path(file: Path) -> Path:
    return file.with_name(f"{file.name}.damaged")


def drop_index(file: Path) -> int:
    """Deletes the index and returns the bytes that it held; refused while another process uses it."""
    lease = Lease(file)
    try:
        return _delete_index(file, lease)
    finally:
        lease.release()


def contexts_on_record(
    file: Path, tree: WorkingTree, view: str, overrides: Sequence[Override]
) -> Probed | None:
    """The contexts as the last epoch has them; nothing is brought up to date. None without an epoch."""
    if is_planted(file) or tree.ships(file.name) or not file.exists():
        return None
    with reading(file) as connection:
        if not is_exact(connection, SCHEMA):
            return None
        row = connection.execute(
            "SELECT view.id FROM view JOIN epoch ON epoch.view = view.id WHERE key = ?", (view,)
        ).fetchone()
        if row is None:
            return None

        def read(path: RepoPath) -> bytes | None:
            [(digest,)] = connection.execute(
                "SELECT digest FROM entry WHERE view = ? AND path = ?", (row[0], sql_text(path))
            ).fetchall()
            return read_exact(tree, path, digest)

        return find_units(connection, row[0], read, overrides).probed


def check_index(file: Path) -> list[str]:
    """What is wrong with an index file, each in a sentence; nothing is changed, whoever uses it."""
    database, problem = _open_sound(file)
    if database is None:
        return [f"It has to be made anew: {problem}"]
    try:
        return faults(database)
    finally:
        database.close()


def _delete_index(file: Path, lease: Lease) -> int:
    if not lease.make_sole():
        raise IndexBusy(
            f"{file} has to be made anew, and another process uses it.",
            hints=["Stop the servers of the other worktrees of this repository."],
            path=str(file),
        )
    size = delete_database(file)
    _mark_path(file).unlink(missing_ok=True)
    return size


def _open_sound(file: Path) -> tuple[Database | None, str]:
    """The database, or None and why it has to be made anew."""
    if is_planted(file):
        return None, "something else is in its place"
    try:
        database = open_exact(file, SCHEMA)
    except IndexCorrupt as error:
        return None, error.message
    if database is None:
        return None, "it was written by another version"
    damage = _find_damage(database)
    if damage is not None:
        database.close()
        return None, damage
    return database, ""


def _find_damage(database: Database) -> str | None:
    """Why the file cannot be relied on; the quick check reads every page's structure."""
    with database.read() as connection:
        verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    return None if verdict == "ok" else f"its integrity check failed: {verdict}"
