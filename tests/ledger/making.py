"""Operations to record, and a ledger whose segments are small."""

import hashlib
from pathlib import Path
from typing import Any

from codeplane.config.settings import LedgerSettings
from codeplane.core.edits import FileChange
from codeplane.core.ids import OperationId, SessionId, TaskId
from codeplane.core.paths import Digest, RepoPath
from codeplane.ledger import Ledger, Operation

LIMITS = (3, 2, 1000)


def digest(text: str) -> Digest:
    return Digest(hashlib.sha256(text.encode()).hexdigest())


def change(
    path: str = "a.py", before: str | None = "one", after: str | None = "two", **more: Any
) -> FileChange:
    return FileChange(
        RepoPath(path),
        digest(before) if before is not None else None,
        digest(after) if after is not None else None,
        **more,
    )


def operation(name: str, **more: Any) -> Operation:
    made: dict[str, Any] = {
        "operation_id": OperationId(name),
        "task_id": TaskId("task_1"),
        "session_id": SessionId("sess_1"),
        "timestamp_ms": 1_700_000_000_000,
        "duration_ms": 5,
        "op_type": "write_source",
        "success": True,
        "changes": (change(),),
        **more,
    }
    return Operation(**made)


def small_ledger(directory: Path, **settings: Any) -> Ledger:
    """A ledger that turns to a new segment with nearly every row."""
    return Ledger.open(directory, LedgerSettings(**settings), segment_bytes=1)
