from typing import Annotated, Any, ClassVar

from pydantic import ConfigDict, Field

from codeplane.controller.catalogue import REPEATABLE, Verb
from codeplane.controller.contract import TurnRequest, TurnResponse
from codeplane.controller.turn import take_turn
from codeplane.session import Call
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._schema import UNLISTED

# Validation runs the project's tests within a turn.
_LONGEST_SEC = 3_600.0


class ControllerTurnInput(Input):
    model_config = ConfigDict(populate_by_name=True)
    rest_field: ClassVar[str | None] = "args"

    verb: Annotated[str, synonyms("action", "command", "name")] = Field(
        default="",
        max_length=200,
        description="What to do; every answer says which verbs are allowed.",
        json_schema_extra={"enum": [verb.value for verb in Verb]},
    )
    args: Annotated[dict[str, Any], synonyms("arguments", "params", "parameters", "input")] = Field(
        default={}, description="Arguments of the verb; they may also be sent beside it."
    )
    work_id: str | None = Field(
        default=None, alias="workId", max_length=200, description="Run to go on with; yours by default."
    )
    agent_id: str | None = Field(
        default=None, alias="agentId", max_length=200, description="Agent.", json_schema_extra=UNLISTED
    )
    run_session_id: str | None = Field(
        default=None,
        alias="runSessionId",
        max_length=200,
        description="Conversation that the run began in.",
        json_schema_extra=UNLISTED,
    )
    original_prompt: Annotated[str | None, synonyms("prompt")] = Field(
        default=None,
        alias="originalPrompt",
        description="What the user asked for, in the first turn.",
    )
    trace_meta: dict[str, Any] = Field(
        default={},
        alias="traceMeta",
        description="`verbose: true` brings the descriptions of the verbs.",
        json_schema_extra=UNLISTED,
    )


def _is_repeatable(args: ControllerTurnInput) -> bool:
    return args.verb in REPEATABLE


@tool(Effect.WRITE, "controller", timeout_sec=_LONGEST_SEC, is_repeatable=_is_repeatable)
def controller_turn(call: Call, args: ControllerTurnInput) -> TurnResponse:
    """Takes one turn under control: reads first, a plan that is accepted, then exactly what it says.

    Use when:
    - every change has to follow an accepted plan
    Examples:
    - Begin: {"verb": "initialize_work", "originalPrompt": "Fix the off-by-one in pager.py"}
    - Read: {"verb": "read_file_lines", "targetFile": "src/app.py", "startLine": 10, "endLine": 40}
    """
    request = TurnRequest(
        verb=args.verb,
        args=args.args,
        work_id=args.work_id,
        agent_id=args.agent_id,
        run_session_id=args.run_session_id,
        original_prompt=args.original_prompt,
        trace_meta=args.trace_meta,
    )
    return take_turn(call, request)
