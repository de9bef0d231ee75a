"""Codemods: rewrites of one file by name and checked parameters, from three places."""

from codeplane.controller.execution.codemods.codemod import Codemod, Rewrite
from codeplane.controller.execution.codemods.registry import all_codemods, find_codemod

__all__ = ["Codemod", "Rewrite", "all_codemods", "find_codemod"]
