"""An operation of git that is under way, noted so that a crash in its midst is known at the next start."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from codeplane.core.documents import decode_json
from codeplane.core.errors import CodePlaneError, StateUnusable
from codeplane.git import Repository
from codeplane.git.repo.ref_locks import drop_ref_locks
from codeplane.git.worktree.index_writer import drop_own_lock
from codeplane.ledger import Ledger, Operation
from codeplane.storage import StateDir
from codeplane.storage.files import read_small, write_private

_LARGEST: Final = 65_536
_CUT_OFF: Final = "CUT_OFF"


@contextmanager
def noted(state: StateDir, row: Operation) -> Iterator[None]:
    """While the block runs, a file has the row that it will end in, as far as it is known.

    An error of the catalogue has a row of its own; what else ends the block is for the next start to tell.
    """
    file = _file(state)
    _begin(file, row)
    try:
        yield
    except CodePlaneError:
        file.unlink(missing_ok=True)
        raise
    file.unlink(missing_ok=True)


def _begin(file: Path, row: Operation) -> None:
    try:
        write_private(file, json.dumps(row.body()).encode())
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise StateUnusable(
            f"Nothing was done: {file} cannot be written: {reason}.", path=str(file)
        ) from error


def put_on_record(state: StateDir, ledger: Ledger, repository: Repository) -> tuple[str, ...]:
    """Writes the row of an operation that was cut off; what the operator should know of it."""
    file, head, lock = _file(state), repository.head(), drop_own_lock(repository)
    data = read_small(file, _LARGEST)
    row = _read(data) if data is not None else None
    is_new = row is not None and ledger.find(row.operation_id) is None
    if row is not None and is_new:
        ledger.record(
            replace(
                row, head_after=head.commit, branch_after=head.branch, failure_class=_CUT_OFF, recovered=True
            )
        )
    file.unlink(missing_ok=True)
    told = _told(row) if row is not None and is_new else None
    branches = {one for one in (row.branch_before if row is not None else None, head.branch) if one}
    locks = drop_ref_locks(repository, sorted(branches), row.timestamp_ms / 1000) if row is not None else []
    return tuple(one for one in (told, lock, *locks) if one is not None)


def _told(row: Operation) -> str:
    was = row.head_before or "no commit"
    return (
        f"{row.op_type} ({row.operation_id}) was cut off by a crash. HEAD was {was} before it; "
        "look at git_status, then repeat it or go back with git_reset."
    )


def _file(state: StateDir) -> Path:
    return state.path / "git-operation.json"


def _read(data: bytes) -> Operation | None:
    """The row that was begun; None where the file is not one that this program wrote."""
    try:
        return Operation.of(0, decode_json(data))
    except (ValueError, RecursionError):
        return None
