"""The files of the ledger: numbered segments, each a database that can only grow."""

import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from codeplane.core.errors import IndexCorrupt, LedgerDamaged, StateUnusable
from codeplane.ledger.chain import BEGINNING, Entry, Row, chained, insert, last_row, rows
from codeplane.ledger.schema import SCHEMA
from codeplane.storage.database import (
    Connection,
    Database,
    database_files,
    delete_database,
    is_made_by,
    open_exact,
    reading,
)
from codeplane.storage.files import publish, sync_dir

T = TypeVar("T")

_NAME: Final = re.compile(r"(\d{6,9})\.db")
_ASIDE: Final = re.compile(r"(\d{6,9})\.damaged-\d+\.db")


@dataclass(frozen=True, order=True)
class Segment:
    """One file of the ledger."""

    index: int
    path: Path

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def draft(self) -> Path:
        """Where the segment is made before it has its name."""
        return self.path.with_suffix(".new")


def segment(directory: Path, index: int) -> Segment:
    return Segment(index, directory / f"{index:06}.db")


def segments(directory: Path) -> list[Segment]:
    """The segments by their names, oldest first; what they are is not looked at."""
    return sorted(Segment(index, path) for index, path in _files_named(directory, _NAME))


def set_aside(directory: Path) -> list[Segment]:
    """The segments that were found damaged and have another name since."""
    return sorted(Segment(index, path) for index, path in _files_named(directory, _ASIDE))


def move_aside(damaged: Segment) -> Path:
    """Gives a segment that cannot be used a name under which nothing looks for one."""
    number = 1
    while (aside := damaged.path.with_name(f"{damaged.index:06}.damaged-{number}.db")).exists():
        number += 1
    for file, target in zip(database_files(damaged.path), database_files(aside), strict=True):
        if file.is_symlink() or file.exists():
            file.rename(target)
    sync_dir(damaged.path.parent)
    return aside


def delete(dropped: Segment) -> None:
    delete_database(dropped.path)
    sync_dir(dropped.path.parent)


def make(
    made: Segment,
    first_number: int,
    previous_hash: str | None,
    head: dict[str, object],
    more: Sequence[Entry] = (),
) -> None:
    """Makes a segment with its head, whole, under its draft's name; `publish_draft` gives it its own."""
    delete_database(made.draft)
    database = open_exact(made.draft, SCHEMA, durable=True)
    assert database is not None, "BUG: a new file has a schema"
    try:
        with database.write() as connection:
            body = {**head, "segment": made.index, "previous_hash": previous_hash}
            tip = previous_hash or BEGINNING
            for number, entry in enumerate([Entry("head", body), *more], first_number):
                row = chained(entry, number, tip)
                insert(connection, row)
                tip = row.hash
    finally:
        database.close()


def publish_draft(made: Segment) -> None:
    publish(made.draft, made.path)


def open_to_append(current: Segment) -> Database:
    """Opens a segment that `ask` has found sound."""
    try:
        database = open_exact(current.path, SCHEMA, durable=True)
    except IndexCorrupt as error:
        raise _damage_error(current, str(error)) from error
    if database is None:
        raise _damage_error(current, "it was made by another version")
    return database


def ask(asked: Segment, question: Callable[[Connection], T]) -> T:
    """The answer of one segment; `LedgerDamaged` where it is none, `FileNotFoundError` where it is gone.

    Nothing is written. A server may be writing to the segment meanwhile.
    """
    was_logged = _is_logged(asked)
    try:
        return _ask_database(asked, question)
    except LedgerDamaged:
        # A server that opened it after the look had it changed under a reader who thought it would not.
        if was_logged == _is_logged(asked):
            raise
    except StateUnusable:
        if asked.path.exists():
            raise
    return _ask_database(asked, question)


def _ask_database(asked: Segment, question: Callable[[Connection], T]) -> T:
    for file in database_files(asked.path):
        try:
            stat_result = file.lstat()
        except FileNotFoundError:
            if file == asked.path:
                raise
            continue
        if not stat.S_ISREG(stat_result.st_mode) or stat_result.st_uid != os.getuid():
            raise _damage_error(asked, f"{file.name} is not a plain file of yours")
    try:
        with reading(asked.path) as connection:
            if not is_made_by(connection, SCHEMA):
                raise _damage_error(asked, "its tables, views or triggers are not those of a segment")
            return question(connection)
    except IndexCorrupt as error:
        raise _damage_error(asked, str(error.__cause__ or error)) from error


def faults(connection: Connection) -> Iterator[str]:
    """What is wrong with the rows of a segment, by itself."""
    verdict = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if verdict != "ok":
        yield f"the database is damaged: {verdict}"
        return
    previous: Row | None = None
    for row in rows(connection):
        if previous is None:
            if row.kind != "head":
                yield f"row {row.number} is the first and is not a head"
            tip = row.body().get("previous_hash") or BEGINNING
        else:
            tip = previous.hash
            if row.number != previous.number + 1:
                yield f"rows {previous.number + 1} to {row.number - 1} are missing"
            if previous.kind == "seal":
                yield f"row {row.number} was added after the end"
        if not row.follows(str(tip)):
            yield f"row {row.number} is not what was written, or not after what it was written after"
        previous = row
    last = previous.number if previous is not None else 0
    [sequence] = connection.execute("SELECT max(seq) FROM sqlite_sequence").fetchone()
    if previous is None or sequence != last:
        yield f"rows after {last} are missing"


def ends(connection: Connection) -> tuple[Row, Row]:
    """The first and the last row."""
    first, last = next(rows(connection, "ORDER BY number LIMIT 1"), None), last_row(connection)
    if first is None or last is None:
        raise IndexCorrupt("It has no rows.")
    return first, last


def _is_logged(asked: Segment) -> bool:
    return asked.path.with_name(f"{asked.name}-wal").exists()


def _files_named(directory: Path, pattern: re.Pattern[str]) -> Iterator[tuple[int, Path]]:
    if directory.is_symlink() or not directory.is_dir():
        return
    for path in directory.iterdir():
        if match := pattern.fullmatch(path.name):
            yield int(match.group(1)), path


def _damage_error(damaged: Segment, why: str) -> LedgerDamaged:
    return LedgerDamaged(
        f"{damaged.name} of the ledger is damaged: {why.rstrip('.')}.",
        hints=["cpl log --verify"],
        segment=damaged.name,
    )
