from typing import Any

from pydantic import Field

from codeplane.session import Call
from codeplane.tools import Effect, Input, Output, tool


class ToyEchoInput(Input):
    text: str = Field(description="What to say back.", max_length=1000)
    path: str | None = Field(default=None, description="A path.")
    limit: int = Field(default=3, ge=1, le=10, description="A number.")
    kinds: list[str] = Field(default=[], description="A list.")
    extra: dict[str, Any] | None = Field(default=None, description="An object.")


class ToyEchoOutput(Output):
    text: str = Field(description="What was said.")
    path: str | None = Field(default=None, description="The path.")
    limit: int = Field(description="The number.")
    kinds: list[str] = Field(description="The list.")


@tool(Effect.READ, "introspection", standard=True)
def toy_echo(call: Call, args: ToyEchoInput) -> ToyEchoOutput:
    """Says back what it was told.

    Examples:
    - Say hello: {"text": "hello"}
    """
    return ToyEchoOutput(text=args.text, path=args.path, limit=args.limit, kinds=args.kinds)
