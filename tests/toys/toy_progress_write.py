from pydantic import Field

from codeplane.session import Call
from codeplane.tools import Effect, Input, Output, tool


class ToyProgressWriteInput(Input):
    steps: int = Field(description="How many steps to take.")


class ToyProgressWriteOutput(Output):
    steps: int = Field(description="Steps taken.")


@tool(Effect.WRITE, "introspection")
def toy_progress_write(call: Call, args: ToyProgressWriteInput) -> ToyProgressWriteOutput:
    """Writes nothing, but tells a lot about it."""
    for step in range(args.steps):
        call.progress(step, args.steps, "y" * 100_000)
    return ToyProgressWriteOutput(steps=args.steps)
