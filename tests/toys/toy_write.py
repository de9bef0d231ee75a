import time

from pydantic import Field

from codeplane.session import Call
from codeplane.tools import Effect, Input, Output, tool


class ToyWriteInput(Input):
    name: str = Field(description="File of the state directory to append to.")
    seconds: float = Field(default=0.0, description="How long the write takes once it has begun.")
    heed: bool = Field(default=False, description="Whether it stops when asked to.")


class ToyWriteOutput(Output):
    lines: int = Field(description="Lines in the file.")


@tool(Effect.WRITE, "introspection")
def toy_write(call: Call, args: ToyWriteInput) -> ToyWriteOutput:
    """Appends a line to a file, slowly."""
    file = call.repo.state.path / args.name
    with file.open("a") as stream:
        stream.write("begun\n")
    end = time.monotonic() + args.seconds
    while time.monotonic() < end:
        if args.heed:
            call.check()
        time.sleep(0.01)
    with file.open("a") as stream:
        stream.write("done\n")
    return ToyWriteOutput(lines=len(file.read_text().splitlines()))
