"""The base of every answer."""

from pydantic import BaseModel, ConfigDict

from codeplane.answers import plain_text


class Output(BaseModel):
    """Base of every tool's answer. Fields that are `None` are left out on the wire.

    What checks them is made at the first answer: most servers give few of them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    def is_done(self) -> bool:
        """Whether the call did what it was asked to; a batch stops where one did not."""
        return True

    def render(self) -> str:
        """The answer as a model reads it: plain text, as a good command prints it."""
        return plain_text(self.model_dump(mode="json", exclude_none=True))
