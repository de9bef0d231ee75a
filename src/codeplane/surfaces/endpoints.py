"""Endpoints: routes on objects and classes, composed over the mounts that lead to them.

Nothing composed is stored: a path is an answer, worked out from sites, imports and rules.
"""

from collections.abc import Sequence
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.slots import EpochSlot
from codeplane.names import Codebase
from codeplane.surfaces.framework import Framework
from codeplane.surfaces.routes import Endpoint, Step, Surface
from codeplane.surfaces.rule import Rule, built_in_rules
from codeplane.surfaces.scripts import ScriptEvaluator

__all__ = ["Endpoint", "Step", "Surface", "endpoints_of"]

_ENDPOINTS: Final[EpochSlot[str, Surface]] = EpochSlot("endpoints")


def endpoints_of(code: Codebase, rules: Sequence[Rule] | None = None) -> Surface:
    """Every endpoint of a state of the code."""
    if rules is None:
        return code.once(_ENDPOINTS, "", lambda: _collect(code, built_in_rules()))
    return _collect(code, rules)


def _collect(code: Codebase, rules: Sequence[Rule]) -> Surface:
    evaluator = ScriptEvaluator(code)
    endpoints: list[Endpoint] = []
    dynamic: dict[RepoPath, int] = {}
    for rule in rules:
        framework = Framework(evaluator, rule)
        endpoints += framework.endpoints()
        for path, count in framework.dynamic.items():
            dynamic[path] = dynamic.get(path, 0) + count
    unique = dict.fromkeys(endpoints)
    return Surface(
        tuple(sorted(unique, key=lambda one: (one.route, one.method, one.path, one.line))), dynamic
    )
