"""The calls of a batch: each is decoded, run and rendered like a call of its own, on the batch's thread."""

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

from codeplane.answers import error_text, note_lines
from codeplane.core.errors import CodePlaneError, InternalError, InvalidArgument
from codeplane.server.decode import decode
from codeplane.server.envelope import error_body, find_tool, meta_of, rendered
from codeplane.server.paging import paged
from codeplane.server.telemetry import Telemetry
from codeplane.session import Call
from codeplane.session.call import StepResult
from codeplane.tools import Effect, Tool

_log = logging.getLogger(__name__)

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
        started = time.perf_counter()
        failure: CodePlaneError | None = None
        body: dict[str, Any] = {}
        text, is_done, inner = "", False, call.inner()
        try:
            tool = find_tool(name, tools, every)
            if tool.name == "batch":
                raise InvalidArgument(
                    "A batch can't contain a batch.", hints=["Put its calls into this one."]
                )
            inner.is_read = tool.effect is Effect.READ
            tool = paged(tool) if is_single else tool
            output = tool.run(inner, decode(tool, arguments))
            body, text, is_done = (
                {"result": output.model_dump(mode="json", exclude_none=True)},
                rendered(output),
                output.is_done(),
            )
        except CodePlaneError as error:
            failure = error
        except Exception as error:  # noqa: BLE001 - the calls before it have answers that must be told
            telemetry.note_error(type(error).__name__, f"{name}: request {call.request_id}")
            _log.exception("call failed", extra={"tool": name})
            failure = InternalError(
                "CodePlane failed on this call; its log has the details.", request_id=call.request_id
            )
        elapsed = time.perf_counter() - started
        outcome = "ok" if failure is None else failure.name().lower()
        telemetry.count(name if name in every else "unknown", outcome, elapsed)
        call.made += inner.made
        if failure is not None:
            body = {"error": error_body(failure, inner.made)}
            text = error_text(body["error"])
        meta = meta_of(inner, elapsed, len(text))
        text = "\n".join(part for part in (text.rstrip("\n"), *note_lines(meta)) if part)
        body |= {key: meta[key] for key in _KEPT if key in meta}
        return StepResult(name, body, text, is_done, _reads(name, every), failure)

    return run


def _reads(name: str, every: Mapping[str, Tool]) -> bool:
    """Whether a call changes nothing; one of no tool is answered with an error alone."""
    return name not in every or every[name].effect is Effect.READ
