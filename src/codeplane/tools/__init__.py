"""One module for each MCP tool; the registry reads this folder."""

from codeplane.answers.output import Output
from codeplane.tools._registry import Effect, Input, Tool, all_tools, offered_tools, tool

__all__ = ["Effect", "Input", "Output", "Tool", "all_tools", "offered_tools", "tool"]
