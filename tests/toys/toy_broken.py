from codeplane.session import Call
from codeplane.tools import Effect, Input, Output, tool


class ToyBrokenInput(Input):
    pass


class ToyBrokenOutput(Output):
    pass


@tool(Effect.READ, "introspection", standard=True)
def toy_broken(call: Call, args: ToyBrokenInput) -> ToyBrokenOutput:
    """Fails with an error that nobody foresaw."""
    raise ZeroDivisionError("secret detail of the inside")
