from typing import Annotated

from pydantic import Field

from codeplane.answers.change import Delta, told
from codeplane.answers.git.change import GitDelta, delta_fields
from codeplane.core.errors import InvalidArgument
from codeplane.session import Call
from codeplane.session.operation.edits import Written, write
from codeplane.session.undo.edits import reverse, to_be_undone
from codeplane.session.undo.git import hints_back, undo_git
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._schema import UNLISTED


class UndoInput(Input):
    operation: Annotated[str | None, synonyms("operation_id", "op_id", "id")] = Field(
        default=None,
        max_length=100,
        description="`op_…` of a write, or `last` of any session; default: your last one.",
    )
    keep_later: Annotated[bool, synonyms("merge", "keep")] = Field(
        default=False, description="Keeps later changes of other lines.", json_schema_extra=UNLISTED
    )
    dry_run: Annotated[bool, synonyms("preview")] = Field(default=False, description="Only show the diff.")


@tool(Effect.WRITE, "edits", standard=True)
def undo(call: Call, args: UndoInput) -> Delta | GitDelta:
    """Reverts a recorded write, as a new one, if files and HEAD are still as it left them.

    Use when:
    - an edit was wrong, or a git operation, if you name it
    Examples:
    - The last edit: {}
    """
    operation = to_be_undone(call, args.operation)
    if operation.is_git:
        if args.dry_run:
            raise InvalidArgument("A git operation has no preview.", hints=hints_back(call, operation))
        return GitDelta.model_validate(delta_fields(undo_git(call, operation)))

    def reverse_edits() -> Written:
        return write(
            call,
            lambda: reverse(call, operation, keeps_later=args.keep_later),
            ignored_ok=True,
            dry_run=args.dry_run,
        )

    if operation.phase is None or args.dry_run:
        return told(call, reverse_edits())
    # What plans of deltas need is loaded by the few calls that undo a phase of one.
    from codeplane.session.delta.settlement import undo_phase

    return told(call, undo_phase(call, operation, reverse_edits))
