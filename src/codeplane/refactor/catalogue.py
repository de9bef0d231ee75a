"""All refactorings by the kind of their plans: the modules of this folder that say which kind they make."""

import importlib
import pkgutil
from collections.abc import Collection
from functools import cache
from typing import Protocol

import codeplane.refactor
from codeplane.names import Index, Snapshot
from codeplane.refactor.plan import Plan


class Refactoring(Protocol):
    """The names of a module that is a refactoring. Its `draft` takes what it is about, and makes a plan."""

    KIND: str
    TOOL: str  # that makes such plans, and goes on with them

    def with_groups(self, snapshot: Snapshot, plan: Plan, selected: Collection[str]) -> Plan:
        """The plan with groups of open places that somebody has chosen."""

    def proven(self, index: Index, plan: Plan) -> Plan:
        """The plan with its verdict: what would change the meaning of other names is refused."""


@cache
def refactorings() -> dict[str, Refactoring]:
    """The refactorings by the kind of their plans."""
    by_kind: dict[str, Refactoring] = {}
    for one in pkgutil.iter_modules(codeplane.refactor.__path__):
        module = importlib.import_module(f"{codeplane.refactor.__name__}.{one.name}")
        if hasattr(module, "KIND"):
            by_kind[module.KIND] = module
    return by_kind
