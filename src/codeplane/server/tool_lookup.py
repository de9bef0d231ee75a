"""The tool that a call names; one that is not there is answered with what was probably meant."""

from collections.abc import Mapping

from codeplane.core.errors import UnknownTool
from codeplane.core.suggest import nearest, snake
from codeplane.tools import Tool

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
