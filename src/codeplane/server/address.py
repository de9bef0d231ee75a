"""Where a call goes: what of its arguments says which state of the repository it reads and writes."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from codeplane.core.documents import decode_json
from codeplane.core.errors import InvalidArgument
from codeplane.core.suggest import snake
from codeplane.server.requested_state import NAMES, take_state
from codeplane.session.requested_state import CURRENT, RequestedState
from codeplane.tools import Tool

_NAMES: Final = ("workspace", "workspace_id")
_ALL: Final = NAMES.union(_NAMES)
# Their own `workspace` is what they act on, not where they act.
_OWN: Final = "workspaces"


@dataclass(frozen=True)
class Address:
    """The state of the repository that a call is about."""

    workspace: str | None = None
    reading: RequestedState = CURRENT


def without_workspace(arguments: object) -> object:
    """The arguments of a call for the server that has nothing but its workspace."""
    if not isinstance(arguments, Mapping):
        return arguments
    return {key: one for key, one in arguments.items() if key not in _NAMES}


def take_address(tool: Tool, arguments: object, bound: str | None = None) -> tuple[Address, object]:
    """Where a call goes, and its other arguments. A session that is `bound` to a workspace stays in it."""
    if isinstance(arguments, str):
        with suppress(ValueError):
            arguments = decode_json(arguments)
    if not isinstance(arguments, Mapping) or tool.category == _OWN:
        return Address(bound), arguments
    if not any(snake(key) in _ALL for key in arguments):
        return Address(bound), arguments
    workspace, rest = _take_workspace(arguments, bound)
    reading, rest = take_state(tool, rest, in_workspace=workspace is not None)
    return Address(workspace, reading), rest


def _take_workspace(arguments: Mapping[str, Any], bound: str | None) -> tuple[str | None, Mapping[str, Any]]:
    """The workspace of a call, and its other arguments."""
    keys = [key for key in arguments if snake(key) in _NAMES]
    rest = {key: one for key, one in arguments.items() if key not in keys} if keys else arguments
    values = [arguments[key] for key in keys if arguments[key] is not None]
    if not values:
        return bound, rest
    if not all(isinstance(one, str) and one for one in values) or len(set(values)) > 1:
        raise InvalidArgument("workspace takes the name of one workspace.", hints=["workspace_list {}"])
    if bound is not None and values[0] != bound:
        raise InvalidArgument(f"This session works in the workspace {bound} and in no other.")
    return values[0], rest
