"""Facts about user interfaces and how they are tied together: routes, components, tables, remotes."""

from typing import Final

from codeplane.core.slots import EpochSlot
from codeplane.names import Codebase
from codeplane.surfaces.expanders.ag_grid import read_grids
from codeplane.surfaces.expanders.angular import AngularCode, angular_paths
from codeplane.surfaces.expanders.module_federation import read_federation
from codeplane.surfaces.fact_graph import FactGraph
from codeplane.surfaces.scripts import ScriptEvaluator

__all__ = ["FactGraph", "ui_facts"]

_FACTS: Final[EpochSlot[str, FactGraph]] = EpochSlot("facts of user interfaces")


def ui_facts(code: Codebase) -> FactGraph:
    """The facts of a state of the code; none where it doesn't use what they are about."""
    return code.once(_FACTS, "", lambda: _collect(code))


def _collect(code: Codebase) -> FactGraph:
    graph = FactGraph()
    if angular_paths(code):
        angular = AngularCode(ScriptEvaluator(code), graph)
        angular.read()
        read_grids(angular)
        read_federation(angular)
    return graph
