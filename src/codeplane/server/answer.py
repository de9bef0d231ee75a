"""The answer to a call, put together once for every way that calls come: alone or as a step of a batch."""

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from codeplane.answers import error_text, note_lines
from codeplane.answers.git.hints import tool_hint
from codeplane.answers.output import Output
from codeplane.core.errors import CodePlaneError, InternalError, UnknownTool
from codeplane.server.requested_state import state_meta
from codeplane.server.telemetry import Telemetry
from codeplane.session import Call
from codeplane.session.call import Limit
from codeplane.session.operation.aftermath import Made

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Answer:
    """`{result, meta}` or `{error, meta}`, ready for the wire.

    Of a call whose client gets the text alone there is no result, and of `meta` only what the text says.
    """

    body: Mapping[str, Any]
    is_error: bool
    # What a model or a person reads: the rendered result or the error, then notes and offered calls.
    text: str
    failure: CodePlaneError | None = None  # what the error tells of


class Reply:
    """One call on its way to its answer; it is timed from here, and counted when it ends."""

    def __init__(self, call: Call, tool: str, telemetry: Telemetry) -> None:
        self._call = call
        self._tool = tool
        self._telemetry = telemetry
        self._started = time.perf_counter()

    def result(self, output: Output) -> Answer:
        """The answer to a call that its tool has carried out."""
        return self._result(output, with_body=self._call.is_structured)

    def step(self, output: Output) -> Answer:
        """The answer to a call within a call, which reads the result."""
        return self._result(output, with_body=True)

    def _result(self, output: Output, *, with_body: bool) -> Answer:
        began = time.perf_counter()
        body = {"result": output.model_dump(mode="json", exclude_none=True)} if with_body else {}
        text = _rendered(output)
        self._call.phases["render"] = time.perf_counter() - began
        return self._answer(body, text, None)

    def error(self, error: Exception) -> Answer:
        """The answer to a call that has failed; nothing unexplained reaches a client."""
        failure = self._explained(error)
        body = {"error": error_body(failure, self._call.lasting_changes)}
        return self._answer(body, error_text(body["error"]), failure)

    def cancelled(self) -> None:
        """The client has left: there is nobody to answer."""
        self._count("cancelled")

    def _explained(self, error: Exception) -> CodePlaneError:
        if isinstance(error, CodePlaneError):
            self._tool = "unknown" if isinstance(error, UnknownTool) else self._tool
            _log.info("call refused", extra={"tool": self._tool, "error": error.name()})
            # The answer must not hold the frames of the call, which hold the answer.
            return error.with_traceback(None)
        request = self._call.request_id
        self._telemetry.note_error(type(error).__name__, f"{self._tool}: request {request}")
        _log.error("call failed", extra={"tool": self._tool}, exc_info=error)
        return InternalError("CodePlane failed on this call; its log has the details.", request_id=request)

    def _answer(self, body: dict[str, Any], text: str, failure: CodePlaneError | None) -> Answer:
        duration = self._count("ok" if failure is None else failure.name().lower())
        meta = _meta(self._call, duration, len(text))
        lines = [part for part in (text.rstrip("\n"), *note_lines(meta)) if part]
        return Answer({**body, "meta": meta}, failure is not None, "\n".join(lines), failure)

    def _count(self, outcome: str) -> float:
        duration = time.perf_counter() - self._started
        self._telemetry.count(self._tool, outcome, duration)
        return duration


def error_body(failure: CodePlaneError, lasting_changes: Sequence[Made]) -> dict[str, Any]:
    """An error for the wire; where a change was made before it, that comes first, and how to take it back."""
    error: dict[str, Any] = failure.to_wire()
    if failure.hints:
        error["hints"] = [tool_hint(hint) for hint in failure.hints]
    if not lasting_changes:
        return error
    changes = "; ".join(one.text for one in lasting_changes)
    undo = [f'undo {{"operation": "{one.operation}"}}' for one in reversed(lasting_changes)]
    return {
        **error,
        "message": f"The change was made and stays ({changes}), but a later step failed: {failure.message}",
        "retryable": False,
        "hints": [*undo, *error.get("hints", ())],
        "details": {**error.get("details", {}), "made": [one.operation for one in lasting_changes]},
    }


def _rendered(output: Output) -> str:
    """The text of an answer. What the call has done is told even where a tool fails to render it."""
    try:
        return output.render()
    except Exception:  # noqa: BLE001 - a write that took effect must not look failed
        _log.exception("rendering failed", extra={"tool": type(output).__name__})
        return Output.render(output)


def _timing(call: Call, duration: float) -> dict[str, float]:
    """Milliseconds: all of it, bringing the index up to date, the tool itself, and putting it into words."""
    refresh, render = call.phases.get("refresh", 0.0), call.phases.get("render", 0.0)
    phases = {
        "total_ms": duration,
        "refresh_ms": refresh,
        "query_ms": max(0.0, duration - refresh - render),
        "render_ms": render,
    }
    return {name: round(seconds * 1000, 2) for name, seconds in phases.items()}


def _limit(limit: Limit) -> dict[str, int]:
    request = {} if limit.wish is None else {"requested": limit.wish}
    return {**request, "hard_cap": limit.hard_cap}


def _meta(call: Call, duration: float, size: int) -> dict[str, Any]:
    savings = call.repo.token_savings.answered(size, call.otherwise)
    if not call.is_structured:
        # What the text says; the rest is sent to nobody.
        return {"task_state": call.task.state, **_notes(call)}
    task = call.task
    meta: dict[str, Any] = {
        "request_id": call.request_id,
        "session_id": call.session.session_id,
        "task_id": task.task_id,
        "task_state": task.state,
        "timestamp_ms": int(time.time() * 1000),
        "timing": _timing(call, duration),
    }
    meta |= state_meta(call)
    if call.flags:
        meta["task"] = {"flags": call.flags}
    if call.epoch is not None:
        meta["epoch"] = call.epoch
    if call.semantic_level:
        meta["semantic_level"] = call.semantic_level
    if savings is not None:
        meta["tokens_saved"] = savings
        if avoided_cost := call.repo.token_savings.cost_avoided(savings):
            meta["cost_avoided"] = avoided_cost
    if call.diagnostics:
        meta["project_diagnostics"] = call.diagnostics
    return {**meta, **_notes(call)}


def _notes(call: Call) -> dict[str, Any]:
    """What a call says besides its result."""
    limits = {name: _limit(one) for name, one in call.limits_applied.items()}
    notes = {"limits_applied": limits, "warnings": call.warnings, "next_actions": call.next_actions}
    return {name: value for name, value in notes.items() if value}
