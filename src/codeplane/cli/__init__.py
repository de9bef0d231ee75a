"""The `cpl` command: one module for each subcommand; the group reads this folder."""

from codeplane.cli._group import main

__all__ = ["main"]
