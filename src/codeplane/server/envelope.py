"""What every answer has, whichever way its call came: the tool it names, its text, its errors and `meta`."""

import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any

from codeplane.answers.git.hints import tool_hint
from codeplane.core.errors import CodePlaneError, UnknownTool
from codeplane.core.suggest import nearest, snake
from codeplane.session import Call
from codeplane.session.operation.aftermath import Made
from codeplane.tools import Output, Tool

_log = logging.getLogger(__name__)

_LONGEST_SHOWN = 100
# What git and other programs call what is part of another tool here.
_USUAL_NAMES = {
    "apply_patch": "write_source",
    "create_file": "write_source",
    "delete_file": "write_source",
    "edit": "write_source",
    "edit_file": "write_source",
    "git_add": "git_stage",
    "git_blame": "git_inspect",
    "git_cherry_pick": "git_merge",
    "git_fetch": "git_pull",
    "git_restore": "git_checkout",
    "git_revert": "git_merge",
    "git_show": "git_inspect",
    "git_switch": "git_checkout",
    "git_tag": "git_commit",
    "grep": "search",
    "move_file": "write_source",
    "multi_edit": "write_source",
    "read": "read_source",
    "read_file": "read_source",
    "str_replace": "write_source",
    "view": "read_source",
    "write": "write_source",
    "write_file": "write_source",
}


def error_body(failure: CodePlaneError, made: Sequence[Made]) -> dict[str, Any]:
    """An error for the wire; where a change was made before it, that comes first, and how to take it back."""
    error: dict[str, Any] = failure.to_wire()
    if failure.hints:
        error["hints"] = [tool_hint(hint) for hint in failure.hints]
    if not made:
        return error
    done = "; ".join(one.text for one in made)
    undo = [f'undo {{"operation": "{one.operation}"}}' for one in reversed(made)]
    return {
        **error,
        "message": f"The change was made and stays ({done}), but a later step failed: {failure.message}",
        "retryable": False,
        "hints": [*undo, *error.get("hints", ())],
        "details": {**error.get("details", {}), "made": [one.operation for one in made]},
    }


def rendered(output: Output) -> str:
    """The text of an answer. What the call has done is told even where a tool fails to render it."""
    try:
        return output.render()
    except Exception:  # noqa: BLE001 - a write that took effect must not look failed
        _log.exception("rendering failed", extra={"tool": type(output).__name__})
        return Output.render(output)


def find_tool(name: str, tools: Mapping[str, Tool], every: Mapping[str, Tool]) -> Tool:
    """The tool of that name among those that the endpoint offers; `every` is what the repository offers."""
    tool = tools.get(name)
    if tool is None and name in every:
        raise UnknownTool(
            f"{name} is not in this connection's profile.",
            hints=[
                f"cpl call {name} '{{…}}' in a shell runs it now",
                "cpl mcp --profile full, or the endpoint /mcp/full, offers every tool",
            ],
        )
    if tool is None:
        name = name[:_LONGEST_SHOWN]
        usual = _USUAL_NAMES.get(snake(name))
        near = [usual] if usual in tools else nearest(name, tools)
        raise UnknownTool(
            f"There is no tool {name!r} here" + (f"; did you mean {near[0]!r}?" if near else "."),
            hints=[f'describe {{"name": "{candidate}"}}' for candidate in near],
        )
    return tool


def meta_of(call: Call, elapsed: float, size: int) -> dict[str, Any]:
    task = call.task
    meta: dict[str, Any] = {
        "request_id": call.request_id,
        "session_id": call.session.session_id,
        "task_id": task.task_id,
        "task_state": task.state,
        "timestamp_ms": int(time.time() * 1000),
        "timing": {"total_ms": round(elapsed * 1000, 2)},
    }
    if call.flags:
        meta["task"] = {"flags": call.flags}
    if call.epoch is not None:
        meta["epoch"] = call.epoch
    saved = call.repo.token_savings.answered(size, call.otherwise)
    if saved is not None:
        meta["tokens_saved"] = saved
    for field in ("limits_applied", "warnings", "next_actions"):
        if value := getattr(call, field):
            meta[field] = value
    return meta
