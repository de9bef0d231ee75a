"""An operation of git taken back as a new one: HEAD to where it was, and what was saved applied again."""

import json
from dataclasses import replace
from typing import Final

from codeplane.core.errors import UndoRefused, WorkAtRisk
from codeplane.git.ops.checkout import CheckoutTarget, check_out, find_target
from codeplane.git.ops.reset import ResetMode, reset_head
from codeplane.git.ops.stash import find_stash
from codeplane.git.ops.stash_apply import apply_stash, pop_stash
from codeplane.git.repo.outcome import Outcome
from codeplane.ledger import Operation
from codeplane.session.call import Call
from codeplane.session.operation.git import Changed, change
from codeplane.session.working_set import check_working_set

# What they committed is staged again.
_COMMITS: Final = ("git_commit", "git_stage_and_commit")
# Those whose move of HEAD is all that they have done, or can be taken back without it.
_MOVES: Final = (
    *_COMMITS, "git_checkout", "git_merge", "git_pull", "git_rebase", "git_reset", "git_undo",
)  # fmt: skip
_MOST_NAMED: Final = 20
# What to do about those that are not taken back by themselves.
_BY_HAND: Final = {
    "git_stage": ["git_reset {}"],
    "git_merge": ['git_merge {"action": "abort"}'],
    "git_rebase": ['git_rebase {"action": "abort"}'],
    "git_stash": ['git_stash {"action": "push"}'],
}


def undo_git(call: Call, operation: Operation) -> Changed[Outcome]:
    """Takes an operation of git back where HEAD is as it left it; local changes since then are kept."""
    _check_undoable(call, operation)
    check_working_set(call, (one.path for one in operation.changes))
    return change(call, "git_undo", lambda: _take_back(call, operation), undoes=operation.operation_id)


def hints_back(call: Call, operation: Operation) -> list[str]:
    """Calls that do by hand what an undo would, as far as there are any."""
    was, stash_ref = operation.head_before, operation.saved
    hints = []
    if operation.branch_before not in (None, operation.branch_after):
        hints = [f'git_checkout {{"ref": "{operation.branch_before}"}}']
    elif was not in (None, operation.head_after):
        hints = [f'git_reset {{"ref": "{was}", "mode": "{_reset_mode(call, operation)}"}}']
    if stash_ref:
        hints.append(f'git_stash {{"action": "apply", "ref": "{stash_ref}"}}')
    if not hints and operation.op_type == "git_checkout" and 0 < len(operation.changes) <= _MOST_NAMED:
        paths = [one.path for one in operation.changes]  # nothing was discarded, so HEAD has them
        arguments = {"ref": "HEAD", "paths": paths, "force": True}  # what is discarded by that is saved
        hints = [f"git_checkout {json.dumps(arguments, ensure_ascii=False)}"]
    return hints or _BY_HAND.get(operation.op_type, [])


def _reset_mode(call: Call, operation: Operation) -> ResetMode:
    """What goes back with HEAD: exactly what had come with it. The undo of an undo goes the same way."""
    if operation.undoes is not None and (original := call.repo.ledger.find(operation.undoes)) is not None:
        return _reset_mode(call, original)
    if operation.op_type in _COMMITS:
        return ResetMode.SOFT
    if operation.mode in (ResetMode.SOFT, ResetMode.MIXED):
        return ResetMode(operation.mode)
    # Where it left the files alone, so does the way back.
    is_of_the_index = operation.op_type == "git_reset" and operation.mode is None and not operation.changes
    return ResetMode.MIXED if is_of_the_index else ResetMode.KEEP


def _check_undoable(call: Call, operation: Operation) -> None:
    name = f"{operation.operation_id} ({operation.op_type})"
    if not operation.success:
        raise _undo_refused(call, operation, f"{name} failed: there is nothing to undo.")
    if not _has_moved(operation) and operation.saved is None:
        raise _undo_refused(
            call, operation, f"{name} neither moved HEAD nor discarded anything: undo can't revert it."
        )
    if _has_moved(operation) and operation.op_type not in _MOVES:
        raise _undo_refused(call, operation, f"undo can't revert {name}.")
    if _has_moved(operation) and operation.head_before is None:
        raise _undo_refused(call, operation, f"{name} made the first commit: there is nothing before it.")


def _take_back(call: Call, operation: Operation) -> Outcome:
    repository = call.repo.checkout.repository
    now = repository.head()
    if (now.branch, now.commit) != (operation.branch_after, operation.head_after):
        raise _undo_refused(call, operation, f"HEAD has moved since {operation.operation_id}.")
    outcome = _moved_back(call, operation) if _has_moved(operation) else Outcome("")
    return _with_saved(call, operation, outcome) if operation.saved else outcome


def _moved_back(call: Call, operation: Operation) -> Outcome:
    repository, programs = call.repo.checkout.repository, call.repo.checkout.programs
    was = operation.head_before or ""
    if operation.branch_before == operation.branch_after:
        try:
            return reset_head(repository, programs, was, _reset_mode(call, operation))
        except WorkAtRisk as error:
            raise _at_risk(operation, error) from error
    goal = CheckoutTarget(was)
    if operation.branch_before is not None:
        goal = find_target(repository, operation.branch_before)
        if goal.commit != was or goal.branch is None:
            raise _undo_refused(
                call, operation, f"The branch {operation.branch_before} has since moved or been deleted."
            )
    try:
        return check_out(repository, programs, goal)
    except WorkAtRisk as error:
        raise _at_risk(operation, error) from error


def _at_risk(operation: Operation, error: WorkAtRisk) -> WorkAtRisk:
    """The refusal of a reset or a checkout, with what an undo can be sent after."""
    again = f'undo {{"operation": "{operation.operation_id}"}}'
    hints = ['git_stash {"action": "push"}', again]
    return WorkAtRisk(error.message, hints=hints, **error.details)


def _with_saved(call: Call, operation: Operation, outcome: Outcome) -> Outcome:
    """What was saved comes back on top; where that is not possible, HEAD is back all the same."""
    repository, programs = call.repo.checkout.repository, call.repo.checkout.programs
    entry = find_stash(repository, operation.saved)
    take = pop_stash if entry.place is not None else apply_stash
    try:
        stash_outcome = take(repository, programs, entry, index=True)
    except WorkAtRisk as error:
        if not _has_moved(operation):
            raise
        return replace(outcome, notes=(*outcome.notes, f"{operation.saved} was not applied. {error.message}"))
    summary = "; ".join(filter(None, (outcome.summary, stash_outcome.summary)))
    return replace(stash_outcome, summary=summary, notes=(*outcome.notes, *stash_outcome.notes))


def _has_moved(operation: Operation) -> bool:
    before = operation.branch_before, operation.head_before
    return before != (operation.branch_after, operation.head_after)


def _undo_refused(call: Call, operation: Operation, message: str) -> UndoRefused:
    return UndoRefused(message, hints=hints_back(call, operation), operation=operation.operation_id)
