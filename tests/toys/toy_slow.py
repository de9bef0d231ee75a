from pydantic import Field

from codeplane.session import Call
from codeplane.tools import Effect, Input, Output, tool


class ToySlowInput(Input):
    steps: int = Field(description="How many steps to take.")
    step_sec: float = Field(default=0.05, description="How long a step takes.")


class ToySlowOutput(Output):
    steps: int = Field(description="Steps taken.")


@tool(Effect.READ, "introspection", standard=True)
def toy_slow(call: Call, args: ToySlowInput) -> ToySlowOutput:
    """Takes its time and tells how far it is."""
    for step in range(args.steps):
        call.wait(args.step_sec)
        call.progress(step + 1, args.steps, f"step {step + 1}")
    return ToySlowOutput(steps=args.steps)
