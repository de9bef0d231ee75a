"""The calls of a batch: each is decoded, run and rendered like a call of its own, on the batch's thread."""

from collections.abc import Callable, Mapping

from codeplane.core.errors import InvalidArgument
from codeplane.server.address import take_address
from codeplane.server.answer import Reply
from codeplane.server.decode import decode
from codeplane.server.paging import paged
from codeplane.server.profiles import CONTROLLER
from codeplane.server.requested_state import check_supported, run_in_state
from codeplane.server.telemetry import Telemetry
from codeplane.server.tool_lookup import find_tool
from codeplane.session import Call
from codeplane.session.call import StepResult
from codeplane.session.requested_state import RequestedState
from codeplane.tools import Effect, Tool

# What a step has of `meta`; the rest is the batch's own.
_KEPT = ("limits_applied", "warnings", "next_actions")


def step_runner(
    call: Call,
    tools: Mapping[str, Tool],
    every: Mapping[str, Tool],
    telemetry: Telemetry,
    *,
    is_single: bool = False,
) -> Callable[[str, object, bool], StepResult | None]:
    """What a batch runs its calls with: `tools` are those of its endpoint, `every` those of all profiles.

    The cursors of a single call outlive it.
    """

    def run(name: str, arguments: object, reads_only: bool) -> StepResult | None:
        if reads_only and not _reads(name, every):
            return None
        inner, is_done = call.inner(), False
        reply = Reply(inner, name, telemetry)
        try:
            tool = find_tool(name, tools, every)
            if tool.name == "batch":
                raise InvalidArgument(
                    "A batch can't contain a batch.", hints=["Put its calls into this one."]
                )
            if tool.name == CONTROLLER:
                raise InvalidArgument("A turn is taken alone.", hints=['controller_turn {"verb": "…"}'])
            inner.is_read = tool.effect is Effect.READ
            inner.reading, arguments = _step_state(call, tool, arguments)
            tool = paged(tool) if is_single else tool
            output = run_in_state(tool, inner, decode(tool, arguments))
            answer, is_done = reply.step(output), output.is_done()
        except Exception as error:  # noqa: BLE001 - the calls before it have answers that must be told
            answer = reply.error(error)
        call.lasting_changes += inner.lasting_changes
        meta = answer.body["meta"]
        body = {key: value for key, value in answer.body.items() if key != "meta"}
        body |= {key: meta[key] for key in _KEPT if key in meta}
        return StepResult(name, body, answer.text, is_done, _reads(name, every), answer.failure)

    return run


def _step_state(call: Call, tool: Tool, arguments: object) -> tuple[RequestedState, object]:
    """What a step reads: what it says itself, else what its batch says."""
    own_workspace = call.workspace.id if call.workspace is not None else None
    address, rest = take_address(tool, arguments, own_workspace)
    if address.workspace != own_workspace:
        raise InvalidArgument(
            "The calls of a batch work where the batch does.", hints=["Send workspace with the batch."]
        )
    reading = address.reading.over(call.reading)
    check_supported(tool, reading)
    return reading, rest


def _reads(name: str, every: Mapping[str, Tool]) -> bool:
    """Whether a call changes nothing; one of no tool is answered with an error alone."""
    return name not in every or every[name].effect is Effect.READ
