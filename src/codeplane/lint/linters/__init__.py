"""One module for each linter, found by reading the folder: its `LINTER` is what it offers."""

from codeplane.lint.linters._registry import LINTERS

__all__ = ["LINTERS"]
