"""Where a call goes: what of its arguments says which state of the repository it reads and writes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from codeplane.core.errors import InvalidArgument
from codeplane.tools import Tool

_NAMES: Final = ("workspace", "workspace_id")
# Their own `workspace` is what they act on, not where they act.
_OWN: Final = "workspaces"


@dataclass(frozen=True)
class Address:
    """The state of the repository that a call is about."""

    workspace: str | None = None


def take_address(tool: Tool, arguments: object, bound: str | None = None) -> tuple[Address, object]:
    """Where a call goes, and its other arguments. A session that is `bound` to a workspace stays in it."""
    if not isinstance(arguments, Mapping) or tool.category == _OWN:
        return Address(bound), arguments
    values = [arguments[name] for name in _NAMES if arguments.get(name) is not None]
    if not values:
        return Address(bound), {key: one for key, one in arguments.items() if key not in _NAMES}
    if not all(isinstance(one, str) and one for one in values) or len(set(values)) > 1:
        raise InvalidArgument("workspace takes the name of one workspace.", hints=["workspace_list {}"])
    if bound is not None and values[0] != bound:
        raise InvalidArgument(f"This session works in the workspace {bound} and in no other.")
    return Address(values[0]), {key: one for key, one in arguments.items() if key not in _NAMES}
