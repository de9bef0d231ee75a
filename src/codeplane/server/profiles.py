"""Which tools an endpoint offers. The list of an endpoint never varies from one connection to another."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from codeplane.server.requested_state import PARAMETERS
from codeplane.server.transport.link import PROFILE_NAMES
from codeplane.tools import Effect, Tool

CONTROLLER: Final = "controller_turn"
"""The one tool of the profile in which every change follows an accepted plan; it runs the others."""

_INSTRUCTIONS: Final = (
    "CodePlane answers questions about this repository from facts and executes changes exactly. "
    "Answers are plain text; an error ends with the call to send instead. Prefer these tools to shell "
    "commands for what they cover. A symbol is named by its qualified name or the end of one (`Model.save`), "
    "or by `path:line`. Save round trips: calls that need none of each other's answers go into one `batch` "
    "(several searches; edit, run_test_targets, git_stage_and_commit), and `read_source` and `write_source` "
    "take several targets and edits. `describe` documents any tool, with parameters that the list leaves out."
)
_CONTROLLED: Final = (
    "CodePlane controls this work: read, submit a plan, and then change exactly what the accepted plan says. "
    "`controller_turn` is the only tool; begin with verb `initialize_work` and the user's request as "
    "`originalPrompt`. Each answer names the allowed verbs where they changed and ends with a ready call: "
    "send it as it is unless you know better. A denied verb changes nothing and says what to send instead. "
    "When all work of the plan is done, or can't be done, call `signal_task_complete` with a `summary`."
)


@dataclass(frozen=True)
class Profile:
    """A named set of tools and the path that it is served at."""

    name: str
    path: str
    tools: Mapping[str, Tool]
    instructions: str = _INSTRUCTIONS
    lists_state: bool = False  # whether its list says that tools read any state of the files

    def schema_of(self, tool: Tool) -> dict[str, Any]:
        """The schema of a tool's parameters, as this list has it."""
        schema = tool.schema
        if not (self.lists_state and tool.reads_state):
            return schema
        extras = {name: one for name, one in PARAMETERS.items() if name not in schema["properties"]}
        return {**schema, "properties": {**schema["properties"], **extras}}


def profiles(tools: Mapping[str, Tool]) -> dict[str, Profile]:
    """The profiles that have a tool; an empty one is not offered."""
    standard, full, read, controller = PROFILE_NAMES
    result = (
        Profile(standard, "/mcp", {n: t for n, t in tools.items() if t.standard}),
        Profile(full, "/mcp/full", dict(tools), lists_state=True),
        Profile(
            read,
            "/mcp/read",
            {n: t for n, t in tools.items() if t.effect is Effect.READ},
            lists_state=True,
        ),
        Profile(
            controller,
            "/mcp/controller",
            {n: t for n, t in tools.items() if n == CONTROLLER},
            instructions=_CONTROLLED,
        ),
    )
    return {profile.name: profile for profile in result if profile.tools}
