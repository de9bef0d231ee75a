from typing import Annotated

from pydantic import Field

from codeplane.core.proof import Tier
from codeplane.graph.calls import callees
from codeplane.graph.places import place_of
from codeplane.session import Call
from codeplane.tools._graph import CallGraph, bounds_of, told
from codeplane.tools._registry import Effect, Input, synonyms, tool


class GraphCalleesInput(Input):
    symbol: Annotated[str, synonyms("symbol_id", "name", "query")] = Field(
        description="Qualified name or its end (`Model.save`), `path:line`, or `sym_…`."
    )
    depth: Annotated[int, synonyms("max_depth")] = Field(default=1, description="Levels, up to 6.")
    limit_per_level: Annotated[int, synonyms("limit")] = Field(
        default=20, description="Most definitions at each level, up to 500."
    )
    tiers: list[Tier] | None = Field(default=None, description="Edges to follow: proven and strong.")


@tool(Effect.READ, "graph", standard=True)
def graph_callees(call: Call, args: GraphCalleesInput) -> CallGraph:
    """Finds what a function or class calls in this repository, and what that calls, level by level.

    `untold` lists calls as written whose target is outside the repository or not proven.

    Use when:
    - you want to know what a function needs in order to work
    Not for:
    - reading the function (use `read_source`)
    Examples:
    - Direct calls: {"symbol": "app.views.index"}
    """
    bounds = bounds_of(call, args.depth, args.limit_per_level, args.tiers, follow=False)
    with call.snapshot() as snapshot:
        root = place_of(snapshot.symbol(args.symbol))
        return told(call, snapshot, root, callees(snapshot, root, bounds), upwards=False)
