"""One operation as the ledger keeps it: what changed, by names and digests, never by content."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, TypeVar

from codeplane.core.edits import FileChange, told_once
from codeplane.core.ids import OperationId, SessionId, TaskId
from codeplane.core.paths import Digest

TEST_RUN: Final = "test_run"
"""The type of an operation that runs tests; every other one counts as a mutation."""

GIT_PREFIX: Final = "git_"
"""How the types of operations begin that git does."""

_MOST_SHOWN: Final = 20
_NUMBERS: Final = {"timestamp_ms", "duration_ms", "insertions", "deletions", "mode_before", "mode_after"}
_ANSWERS: Final = {"success", "unchanged", "recovered", "git_mv"}
_LISTS: Final = {"changes", "failing_tests"}

M = TypeVar("M")


def short_diff(changes: Sequence[FileChange]) -> str:
    """The changes at a glance, one to a line: `+ new.py`, `- old.py`, `~ both.py`, `> a.py -> b.py`."""
    lines = [_change_line(change) for change in told_once(changes)]
    if len(lines) > _MOST_SHOWN:
        lines = [*lines[:_MOST_SHOWN], f"… {len(lines) - _MOST_SHOWN} more"]
    return "\n".join(lines)


def _change_line(change: FileChange) -> str:
    if change.moved_from is not None:
        return f"> {_printable_path(change.moved_from)} -> {_printable_path(change.path)}"
    mark = "+" if change.before is None else "-" if change.after is None else "~"
    return f"{mark} {_printable_path(change.path)}"


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One operation. The number is the ledger's own and 0 until the operation is recorded; the short diff
    is made from the changes."""

    operation_id: OperationId
    task_id: TaskId
    session_id: SessionId
    timestamp_ms: int
    duration_ms: int
    op_type: str
    success: bool
    repo_before: str | None = None
    repo_after: str | None = None
    changes: tuple[FileChange, ...] = ()
    insertions: int = 0
    deletions: int = 0
    short_diff: str = ""
    mutation_fingerprint: str | None = None
    failure_fingerprint: str | None = None
    failure_class: str | None = None
    failing_tests: tuple[str, ...] = ()
    limit_triggered: str | None = None
    unchanged: bool = False  # it failed and everything is as it was: no budget counts it
    undoes: OperationId | None = None
    recovered: bool = False
    artifact: Digest | None = None
    branch_before: str | None = None  # of an operation of git, like the five after it
    branch_after: str | None = None
    head_before: str | None = None
    head_after: str | None = None
    saved: str | None = None  # reference of the commit that keeps what was discarded
    mode: str | None = None  # of a reset: what followed HEAD
    plan: str | None = None  # of a phase of a plan that was executed
    phase: str | None = None
    number: int = 0

    def __post_init__(self) -> None:
        if self.changes and not self.short_diff:
            object.__setattr__(self, "short_diff", short_diff(self.changes))

    @property
    def is_git(self) -> bool:
        """Whether git did it: then files are taken back through git as well."""
        return self.op_type.startswith(GIT_PREFIX)

    def body(self) -> dict[str, Any]:
        """The operation as the ledger writes it; what has no value of its own is left out."""
        values = _given_fields(self)
        if self.changes:
            values["changes"] = [_given_fields(change) for change in self.changes]
        return {name: value for name, value in values.items() if name != "number"}

    @classmethod
    def of(cls, number: int, body: Mapping[str, Any]) -> "Operation":
        """The operation that was written; `ValueError` where it was not written by this class.

        What a later version added is not known here and passed over.
        """
        read = _read_fields(cls, {name: value for name, value in body.items() if name not in _LISTS})
        changes, tests = body.get("changes", []), body.get("failing_tests", [])
        if not isinstance(changes, list) or not isinstance(tests, list):
            raise ValueError("it has no list where one belongs")
        read["changes"] = tuple(
            _make_record(FileChange, _read_fields(FileChange, change)) for change in changes
        )
        read["failing_tests"] = tuple(str(test) for test in tests)
        return _make_record(cls, {**read, "number": number})


def _printable_path(path: str) -> str:
    """A path that takes one line, whatever is in its name."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in path)


def _given_fields(value: FileChange | Operation) -> dict[str, Any]:
    pairs = ((field, getattr(value, field.name)) for field in fields(value))
    return {field.name: item for field, item in pairs if item != field.default}


def _read_fields(kind: type, body: object) -> dict[str, Any]:
    if not isinstance(body, Mapping):
        raise ValueError("it is not an object")
    names = {field.name for field in fields(kind)}
    read = {name: value for name, value in body.items() if name in names and value is not None}
    for name, value in read.items():
        form = int if name in _NUMBERS else bool if name in _ANSWERS else str
        if not isinstance(value, form):
            raise ValueError(f"its {name} is not what belongs there")
    return read


def _make_record(kind: type[M], read: dict[str, Any]) -> M:
    try:
        return kind(**read)
    except TypeError as error:
        raise ValueError("it lacks what belongs there") from error
