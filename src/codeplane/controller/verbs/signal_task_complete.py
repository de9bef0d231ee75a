from typing import Annotated, Any, Final

from pydantic import Field

from codeplane.controller.catalogue import Verb
from codeplane.controller.contract import RunState, SuggestedAction
from codeplane.controller.execution.plan_store import close_run as end_execution
from codeplane.controller.guidance import Guidance
from codeplane.controller.retrospective import build_retrospective, close_run, final_state
from codeplane.controller.turn import Turn
from codeplane.controller.verb import (
    MISSING_FIELDS,
    SCOPE_VIOLATION,
    Denied,
    Problem,
    VerbArgs,
    VerbDescriptor,
    VerbResult,
)
from codeplane.core.redaction import redact_text
from codeplane.core.synonyms import synonyms

DESCRIPTOR = VerbDescriptor(
    "Ends the run with a retrospective. While nodes of the plan are open it needs `abandon` and a `reason`.",
    "When everything is done, or when the work is given up.",
)
_ENDED: Final = (RunState.COMPLETED, RunState.FAILED)
_GIVEN_UP: Final = "abandoned"


class Args(VerbArgs):
    summary: Annotated[str, synonyms("message", "text")] = Field(default="", max_length=4000)
    abandon: Annotated[bool, synonyms("abandoned", "force", "give_up")] = False
    reason: Annotated[str, synonyms("why")] = Field(default="", max_length=1000)


def example(turn: Turn) -> dict[str, Any]:
    """A call that ends the run; while nodes are open there is none to offer: giving up is a decision."""
    if open_nodes := _count_open(turn):
        raise _open_refusal(turn, open_nodes)
    return {}


def run(turn: Turn, args: Args) -> VerbResult:
    run, extra = turn.run, turn.run.body.extra
    open_nodes = 0 if run.state in _ENDED else _count_open(turn)
    if args.abandon and not args.reason.strip():
        raise _refused(MISSING_FIELDS, "fields.missing", "reason", "abandon needs a reason.", None)
    if open_nodes and not args.abandon:
        raise _open_refusal(turn, open_nodes)
    if run.state not in _ENDED and args.abandon:
        extra[_GIVEN_UP] = redact_text(args.reason)
    is_abandoned = _GIVEN_UP in extra
    close_run(turn.call, run, is_resolved=not is_abandoned and run.state is not RunState.FAILED)
    if final_state(run) is RunState.COMPLETED:  # one that has failed may be released by a person
        end_execution(turn.call.repo, run)
    retrospective = build_retrospective(turn.call, run, redact_text(args.summary))
    result = retrospective.to_dict()
    head = []
    if is_abandoned:
        result |= {"abandoned": True, "reason": extra[_GIVEN_UP]}
        head = [f"abandoned: {extra[_GIVEN_UP]}"]
    text = "\n".join([*head, retrospective.render_text()])
    return VerbResult(result, text, state=final_state(run))


def _count_open(turn: Turn) -> int:
    progress = Guidance(turn).progress()
    return progress.remaining_nodes if progress is not None else 0


def _open_refusal(turn: Turn, open_nodes: int) -> Denied:
    abandonment = SuggestedAction(
        verb=Verb.SIGNAL_TASK_COMPLETE,
        reason="Gives the open nodes up.",
        args={"abandon": True, "reason": "the plan is not carried out to its end"},
    )
    message = f"{open_nodes} nodes of the plan are open: finish them, or send abandon with a reason."
    suggestion = Guidance(turn).safe_action() or abandonment
    return _refused(SCOPE_VIOLATION, "scope.open_nodes", "abandon", message, suggestion)


def _refused(
    code: str, sub_code: str, field: str, message: str, suggestion: SuggestedAction | None
) -> Denied:
    problem = Problem(code, sub_code, field, message)
    action = suggestion or SuggestedAction(
        verb=Verb.SIGNAL_TASK_COMPLETE,
        reason="With a reason it is accepted.",
        args={"abandon": True, "reason": "why the work is given up"},
    )
    result: dict[str, Any] = {"problems": [problem.to_wire()]}
    return Denied([code], message, action, result=result)
