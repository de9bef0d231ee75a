"""The reverse of an operation that is on record."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from codeplane.core.edits import Change, EditSet, FileChange, FileEdit
from codeplane.core.errors import CodePlaneError, NotFound, UndoRefused
from codeplane.core.ids import OperationId
from codeplane.core.paths import RepoPath
from codeplane.jail import shown
from codeplane.ledger import Operation
from codeplane.session.call import Call
from codeplane.session.operation.edits import Intent
from codeplane.session.undo.later import later_changes
from codeplane.working_tree import digest_of

_LAST: Final = "last"
_MOST_LOOKED_AT: Final = 200
_MOST_NAMED: Final = 3


def to_be_undone(call: Call, operation_id: str | None) -> Operation:
    """The operation of that id, the last one of anybody, or the last edit of the session."""
    ledger = call.repo.ledger
    if operation_id is None:
        operation = ledger.last_undoable(session=call.session.session_id)
    elif operation_id == _LAST:
        operation = ledger.last_change()
    else:
        operation = ledger.find(OperationId(operation_id))
    if operation is None:
        raise _nothing_to_undo(call, operation_id)
    if not operation.is_git and (not operation.changes or not operation.success):
        raise UndoRefused(f"{operation.operation_id} changed no files.", operation=operation.operation_id)
    return operation


def _nothing_to_undo(call: Call, operation_id: str | None) -> NotFound:
    """What somebody else or git has done is named, and not undone unless it is meant."""
    if operation_id not in (None, _LAST):
        hints = ["`cpl log` lists recorded operations."]
        return NotFound(f"There is no operation {str(operation_id)[:100]} on record.", hints=hints)
    mine = call.repo.ledger.last_change(call.session.session_id)
    last = mine or call.repo.ledger.last_undoable() or call.repo.ledger.last_change()
    if last is None:
        return NotFound("There is nothing on record to undo.")
    paths = [shown(one.path) for one in last.changes]
    more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
    whose = "your last git operation" if mine is not None else "the last operation of another session"
    of = f" of {', '.join(paths[:_MOST_NAMED])}{more}" if paths else ""
    return NotFound(
        f"This session has no edit to undo; {whose} is {last.operation_id} ({last.op_type}{of}).",
        hints=[f'undo {{"operation": "{last.operation_id}"}}'],
    )


def reverse(call: Call, operation: Operation, *, keeps_later: bool = False) -> Intent:
    """What undoes an operation; refused where a file is not as it left it any more.

    With `keeps_later`, changes of other lines since are kept.
    """
    went_to = {one.moved_from: one.path for one in operation.changes if one.moved_from is not None}
    edits: list[FileEdit] = []
    old: dict[RepoPath, bytes] = {}
    reasons: list[str] = []
    is_mergeable = True
    for change in operation.changes:
        content = call.repo.engine.objects.read(change.before) if change.before is not None else None
        if change.before is not None and content is None:
            reasons.append(f"{shown(change.path)}: its previous content is no longer stored")
            is_mergeable = False
        look = _look(call, change, content)
        if look.data is not None:
            old[change.path] = look.data
        if look.reason and not (keeps_later and look.merge is not None):
            reasons.append(look.reason)
            is_mergeable &= look.merge is not None
        edit = _reverse_edit(change, content, went_to)
        if look.data is not None and look.merge is not None:
            edit = replace(edit, before=digest_of(look.data), after=look.merge)
        edits.append(edit)
    if reasons:
        raise UndoRefused(
            f"{operation.operation_id} cannot be undone: {'; '.join(reasons)}.",
            hints=[*(_keeping(operation) if is_mergeable else ()), *_later_operation(call, operation)],
            operation=operation.operation_id,
        )
    return Intent("undo", Change(EditSet(tuple(edits)), old), operation.operation_id)


def _keeping(operation: Operation) -> list[str]:
    arguments = f'{{"operation": "{operation.operation_id}", "keep_later": true}}'
    return [f"Later changes are of other lines; to undo and keep them: undo {arguments}"]


def _later_operation(call: Call, operation: Operation) -> list[str]:
    """The newest operation that has changed the same files since; it has to be undone first."""
    paths = {one.path for one in operation.changes}
    for later in call.repo.ledger.operations(limit=_MOST_LOOKED_AT):
        if later.operation_id == operation.operation_id:
            break
        if later.success and paths & {one.path for one in later.changes}:
            return [f'Undo {later.op_type} first: undo {{"operation": "{later.operation_id}"}}']
    return ["Nothing on record has changed these files since; git_diff shows how they are now."]


class _Look(NamedTuple):
    """A file as it is: its content, why it is not as the operation left it, and the reverse beside that."""

    data: bytes | None
    reason: str = ""
    merge: bytes | None = None


def _look(call: Call, change: FileChange, before: bytes | None) -> _Look:
    path = shown(change.path)
    try:
        data = call.repo.tree.read(change.path)
    except NotFound:
        return _Look(None, "" if change.after is None else f"{path} is gone")
    except CodePlaneError as error:
        return _Look(None, error.message.removesuffix("."))
    if digest_of(data) == change.after:
        return _Look(data)
    if change.after is None:
        return _Look(data, f"{path} exists again")
    left = call.repo.engine.objects.read(change.after) or call.repo.earlier(change.after)
    if left is None or before is None or change.moved_from is not None:
        return _Look(data, f"{path} has changed since")
    lines, merge = later_changes(left, data, before)
    where = f" (line{'s' if not lines.isdigit() else ''} {lines})" if lines else ""
    same = "" if merge is not None or not lines else ", at lines that it would change"
    return _Look(data, f"{path} has changed since{where}{same}", merge)


def _reverse_edit(
    change: FileChange, content: bytes | None, went_to: Mapping[RepoPath, RepoPath]
) -> FileEdit:
    came_back = went_to.get(change.path) if content is not None else None
    return FileEdit(change.path, change.after, content, moved_from=came_back, mode=change.mode_before)
