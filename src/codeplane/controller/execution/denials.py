"""Refusals of execution as denials: the code of the seed's table, what is allowed, and a call that works."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from codeplane.controller.catalogue import Verb
from codeplane.controller.contract import SuggestedAction
from codeplane.controller.correction import corrected_action
from codeplane.controller.execution.accepted import AcceptedPlan
from codeplane.controller.execution.plan_store import load_plan
from codeplane.controller.execution.target_lines import narrow_read
from codeplane.controller.turn import Turn
from codeplane.controller.verb import SCOPE_VIOLATION, Denied, Problem
from codeplane.core.errors import (
    CodePlaneError,
    ExecSideEffectCollision,
    ExecUngatedSideEffect,
    NodeNotReady,
    NotFound,
    PatchOutOfBounds,
    PathRefused,
)

_SUB_CODES: Final[dict[type[CodePlaneError], tuple[str, str]]] = {
    PatchOutOfBounds: ("scope.symbol", "edits"),
    NodeNotReady: ("scope.node", "planNodeId"),
    PathRefused: ("scope.file", "targetFile"),
}
_SHOWN_DETAILS: Final = ("allowed", "outside", "found", "candidates", "holders", "waiting", "takes")


@contextmanager
def explained_refusals(turn: Turn, node_id: str) -> Iterator[None]:
    """Turns what execution refuses into a denial whose suggestion can be sent."""
    try:
        yield
    except CodePlaneError as error:
        raise _denial_of(turn, node_id, error) from error


def _denial_of(turn: Turn, node_id: str, error: CodePlaneError) -> Denied:
    sub_code, where = _SUB_CODES.get(type(error), ("", ""))
    if isinstance(error, NotFound) and "nodes" in error.details:
        sub_code, where = "scope.node", "planNodeId"
    if isinstance(error, PatchOutOfBounds) and "outside" not in error.details:
        sub_code, where = "scope.file", "targetFile"
    code = SCOPE_VIOLATION if sub_code else error.name()
    if isinstance(error, ExecSideEffectCollision | ExecUngatedSideEffect):
        where = "planNodeId"
    problem = Problem(code, sub_code or f"exec.{error.name().lower()}", where, error.message)
    details: dict[str, Any] = {name: error.details[name] for name in _SHOWN_DETAILS if name in error.details}
    result: dict[str, Any] = {"problems": [problem.to_wire()], **details, "hints": list(error.hints)}
    lines = [*error.hints, *(_detail_lines(details))]
    suggestion = _corrected_call(turn) or safe_suggestion(turn, node_id, error)
    return Denied([code], error.message, suggestion, result, "\n".join(lines))


def _corrected_call(turn: Turn) -> SuggestedAction | None:
    """What was meant, where it can be carried out now."""
    try:
        return corrected_action(turn, Verb(turn.request.verb), turn.request.args)
    except ValueError:
        return None


def _detail_lines(details: dict[str, Any]) -> Iterator[str]:
    for name in ("found", "outside", "candidates"):
        value = details.get(name)
        if isinstance(value, str):
            yield f"{name}:\n{value}"
        elif value:
            yield f"{name}: {'; '.join(map(str, value))}"


def safe_suggestion(turn: Turn, node_id: str, error: CodePlaneError) -> SuggestedAction:
    """A call that is accepted as it is: the file of the node to be read, or the list of verbs."""
    try:
        plan = load_plan(turn.call.repo, turn.run)
    except CodePlaneError:
        return _list_verbs("The run has no accepted plan that can be read.")
    path = _readable_target(turn, plan, node_id)
    if path is not None:
        action = SuggestedAction(
            verb=Verb.READ_FILE_LINES,
            reason=f"Shows what {node_id} may change: {error.message}"[:300],
            args={"targetFile": path},
        )
        return narrow_read(turn.call, plan, action)
    return _list_verbs(error.message)


def _readable_target(turn: Turn, plan: AcceptedPlan, node_id: str) -> str | None:
    """The file of the node that was meant, else of the one that is next."""
    names = [node_id, *([one.node_id] if (one := plan.next_node()) is not None else [])]
    for node in plan.nodes:
        if node.node_id in names and node.node.target_file:
            try:
                turn.call.repo.tree.read(turn.call.repo.tree.jail.enter(node.node.target_file))
            except CodePlaneError:
                continue
            return node.node.target_file
    return None


def _list_verbs(reason: str) -> SuggestedAction:
    return SuggestedAction(
        verb=Verb.LIST_AVAILABLE_VERBS, reason=reason[:300], args={"verbs": [Verb.APPLY_CODE_PATCH.value]}
    )
