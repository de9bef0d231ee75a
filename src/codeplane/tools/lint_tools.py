from pydantic import Field

from codeplane.answers.output import Output
from codeplane.jail import shown
from codeplane.lint.inventory import Tool
from codeplane.session import Call
from codeplane.session.linting import used_linters
from codeplane.tools._registry import Effect, Input, tool

_MOST_ROOTS = 10


class LintToolsInput(Input):
    pass


class LintTool(Output):
    name: str = Field(description="Name, as lint_check takes it.")
    status: str = Field(description="ready, missing or off.")
    roots: list[str] = Field(description="Directories that it is used in; `.` is the repository.")
    evidence: list[str] = Field(description="Evidence that it is used.")
    fixes: bool = Field(description="Whether it fixes what it finds.")
    program: str | None = Field(default=None, description="Program, in the repository or the user's.")
    version: str | None = Field(default=None, description="Version it reports.")
    to_do: str | None = Field(default=None, description="How to install it.")
    more_roots: int | None = Field(default=None, description="Directories beyond those.")

    def line(self) -> str:
        """The linter in one line: `ruff ready 0.13.1, fixes: pyproject.toml: tool.ruff`."""
        text = " ".join(filter(None, (self.name, self.status, self.version, self.program)))
        text += ", fixes" if self.fixes and self.status == "ready" else ""
        text += f" in {', '.join(self.roots)}" if self.roots != ["."] else ""
        text += f" and {self.more_roots} more" if self.more_roots else ""
        why = f" ({'; '.join(self.evidence)})" if self.evidence else ""
        return f"{text}{why}" + (f": {self.to_do}" if self.to_do else "")


class LintToolsOutput(Output):
    tools: list[LintTool] = Field(description="Linters that the repository uses.")
    unused: list[str] = Field(description="Known linters that are not used here.")

    def render(self) -> str:
        lines = [one.line() for one in self.tools] or ["no linter is used here"]
        if self.unused:
            lines.append(f"not used: {', '.join(self.unused)}")
        return "\n".join(lines)


@tool(Effect.READ, "lint")
def lint_tools(call: Call, args: LintToolsInput) -> LintToolsOutput:  # noqa: ARG001 - it has none
    """Lists the linters that the repository uses, whether they are installed, and what is missing.

    Use when:
    - a linter that you expected did not run
    Not for:
    - running them (lint_check)
    Examples:
    - All: {}
    """
    inventory = used_linters(call)
    if not call.repo.checkout.trusted:
        call.warn("The repository is not trusted: linters do not run, and versions are unknown (cpl trust).")
    return LintToolsOutput(tools=[_told(one) for one in inventory.tools], unused=list(inventory.unused))


def _told(one: Tool) -> LintTool:
    return LintTool(
        name=one.name,
        status=one.status,
        roots=[shown(root) or "." for root in one.roots[:_MOST_ROOTS]],
        evidence=[shown(said) for said in one.evidence[:_MOST_ROOTS]],
        fixes=one.fixes,
        program=one.program or None,
        version=one.version or None,
        to_do=one.to_do or None,
        more_roots=max(0, len(one.roots) - _MOST_ROOTS) or None,
    )
