import time

from pydantic import Field

from codeplane.session import Call
from codeplane.tools import Effect, Input, Output, tool


class ToyStuckInput(Input):
    seconds: float = Field(description="How long it hears nothing.")


class ToyStuckOutput(Output):
    pass


@tool(Effect.READ, "introspection")
def toy_stuck(call: Call, args: ToyStuckInput) -> ToyStuckOutput:
    """Does not look whether it should stop."""
    time.sleep(args.seconds)
    return ToyStuckOutput()
