"""Linters and formatters of a repository: what they find, and what they would fix."""

from codeplane.lint.check import LintReport, check
from codeplane.lint.diagnostic import Diagnostic
from codeplane.lint.fix import Proposed, fixes
from codeplane.lint.inventory import Inventory, inventory
from codeplane.lint.linter import Files, Place, Watch
from codeplane.lint.plan import Wanted
from codeplane.lint.runs import Where

__all__ = [
    "Diagnostic",
    "Files",
    "Inventory",
    "LintReport",
    "Place",
    "Proposed",
    "Wanted",
    "Watch",
    "Where",
    "check",
    "fixes",
    "inventory",
]
