from typing import Annotated, Any, Literal

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.answers.source import offer
from codeplane.core.errors import InvalidArgument, NotFound
from codeplane.core.suggest import nearest
from codeplane.session import Call, RepoStatus
from codeplane.tools._registry import Effect, Input, Tool, offered_tools, synonyms, tool
from codeplane.tools._schema import UNLISTED

_STATE: dict[str, str] = {
    "commit": "Commit to read, by branch, tag or id; every tool that reads files or code takes it.",
    "virtual_files": "`{path, content}` or `{path, deleted: true}`: files to be read as if written.",
}


class DescribeInput(Input):
    action: Literal["repo", "tool"] | None = Field(
        default=None,
        description="`repo` (default) or `tool`; a `name` alone means `tool`.",
        json_schema_extra=UNLISTED,
    )
    name: Annotated[str | None, synonyms("tool", "tool_name")] = Field(
        default=None, description="Tool to document."
    )


class RepoDescription(Output, RepoStatus):
    tool_count: int = Field(description="Number of tools, over all profiles.")

    def render(self) -> str:
        where = f"{self.branch or 'detached HEAD'} at {(self.commit or 'no commit')[:10]}"
        trust = "trusted" if self.trusted else "not trusted: its tests and hooks do not run (cpl trust)"
        lines = [f"{self.repo_root}: {where}, {trust}", _index_line(self)]
        for one in self.contexts or ():
            more = f" and {one.more} more" if one.more else ""
            lines.append(
                f"{one.family}: {', '.join(one.roots)}{more}{f' ({one.unclear})' if one.unclear else ''}"
            )
        return "\n".join([*lines, *(f"note: {one}" for one in self.notices or ())])


def _index_line(status: RepoStatus) -> str:
    if status.index is None:
        return f"index {status.index_status}"
    unread = f", {status.index.unread} not read yet" if status.index.unread else ""
    rebuilt = f"; rebuilt: {status.index.rebuilt}" if status.index.rebuilt else ""
    return f"index {status.index_status}: {status.index.files} files{unread}{rebuilt}"


class ToolExample(Output):
    description: str = Field(description="What the call is for.")
    params: dict[str, Any] = Field(description="The arguments to send.")


class ToolDescription(Output):
    name: str = Field(description="Name of the tool.")
    description: str = Field(description="What it does.")
    category: str = Field(description="Family of the tool.")
    effect: str = Field(description="`read`, `session` or `write`.")
    when_to_use: list[str] = Field(description="When to use it.")
    when_not_to_use: list[str] = Field(description="When to use something else.")
    parameters: dict[str, str] = Field(description="Each parameter with its meaning.")
    examples: list[ToolExample] = Field(description="Example calls.")

    def render(self) -> str:
        parts = [f"{self.name} ({self.category}, {self.effect}): {self.description}"]
        for title, items in (("Use when", self.when_to_use), ("Not for", self.when_not_to_use)):
            parts += [f"{title}:", *(f"- {one}" for one in items)] if items else []
        parts += [f"{name}: {text}" for name, text in self.parameters.items()]
        parts += [f"{one.description}: {offer(self.name, **one.params)}" for one in self.examples]
        return "\n".join(parts)


@tool(Effect.READ, "introspection", standard=True)
def describe(call: Call, args: DescribeInput) -> RepoDescription | ToolDescription:
    """Describes this repository, or documents one tool.

    Examples:
    - What is this repository: {}
    - How a tool is used: {"name": "describe"}
    """
    tools = offered_tools(call.repo.checkout.settings)
    if args.name and args.action != "repo":
        return _describe_tool(tools, args.name)
    if args.action == "tool":
        raise InvalidArgument("`name` must say which tool to describe.", hints=[f"one of {', '.join(tools)}"])
    return RepoDescription(**call.repo.status().model_dump(), tool_count=len(tools))


def _describe_tool(tools: dict[str, Tool], name: str) -> ToolDescription:
    result = tools.get(name)
    if result is None:
        raise NotFound(
            f"There is no tool named {name!r}.",
            hints=[f'describe {{"name": "{near}"}}' for near in nearest(name, tools)],
        )
    doc = result.doc
    return ToolDescription(
        name=name,
        description=doc.summary,
        category=result.category,
        effect=result.effect,
        when_to_use=list(doc.when_to_use),
        when_not_to_use=list(doc.when_not_to_use),
        parameters={
            **{k: f.description or "" for k, f in result.input.model_fields.items()},
            **(_STATE if result.reads_state else {}),
        },
        examples=[ToolExample(description=e.description, params=e.params) for e in doc.examples],
    )
