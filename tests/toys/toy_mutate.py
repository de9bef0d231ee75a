from typing import Literal

from pydantic import Field

from codeplane.core.edits import FileChange
from codeplane.core.ids import new_operation_id
from codeplane.core.paths import Digest, RepoPath
from codeplane.ledger import Operation, mutation_fingerprint
from codeplane.ledger.fingerprints import failure_fingerprint
from codeplane.session import Call
from codeplane.tools import Effect, Input, Output, tool


class ToyMutateInput(Input):
    path: str = Field(default="a.py", description="What is said to have changed.")
    after: str = Field(default="b", description="What it is said to hold.")
    kind: Literal["mutation", "test_run"] = Field(default="mutation", description="What is charged.")
    failure: str | None = Field(default=None, description="The failure of a test run.")


class ToyMutateOutput(Output):
    number: int = Field(description="Number of the row.")


@tool(Effect.WRITE, "introspection")
def toy_mutate(call: Call, args: ToyMutateInput) -> ToyMutateOutput:
    """Says that it changed a file, or that a test failed; charges and records as what does so has to."""
    call.charge(args.kind, "toy_mutate")
    changes: tuple[FileChange, ...] = ()
    mutated = failed = None
    if args.kind == "mutation":
        changes = (FileChange(RepoPath(args.path), Digest("a"), Digest(args.after)),)
        mutated = mutation_fingerprint(changes, 1, 1)
        call.signal(call.repo.tasks.note_mutation(call.task, mutated))
    elif args.failure is not None:
        failed = failure_fingerprint([args.failure], "AssertionError", "", 1)
        call.signal(call.repo.tasks.note_failure(call.task, failed))
    operation = Operation(
        operation_id=new_operation_id(),
        task_id=call.task.task_id,
        session_id=call.session.session_id,
        timestamp_ms=1_700_000_000_000,
        duration_ms=1,
        op_type="test_run" if args.kind == "test_run" else "toy_mutate",
        success=failed is None,
        changes=changes,
        mutation_fingerprint=mutated,
        failure_fingerprint=failed,
    )
    return ToyMutateOutput(number=call.repo.tasks.record(call.task, operation))
