from codeplane.answers.calls import Callees, callees_of
from codeplane.graph.calls import callees
from codeplane.graph.places import place_of
from codeplane.session import Call
from codeplane.tools._registry import Effect, tool
from codeplane.tools._walk import WalkInput, bounds_of


class GraphCalleesInput(WalkInput):
    pass


@tool(Effect.READ, "graph")
def graph_callees(call: Call, args: GraphCalleesInput) -> Callees:
    """Lists what a function or class calls in this repository, and what that calls, level by level.

    Calls that lead outside the repository, or can't be resolved, are listed as written.

    Use when:
    - you want to know what a function needs in order to work
    Not for:
    - reading the function (use `read_source`)
    Examples:
    - Direct calls: {"symbol": "app.views.index"}
    """
    bounds = bounds_of(call, args)
    with call.snapshot() as snapshot:
        root = place_of(snapshot.symbol(args.symbol))
        return callees_of(call, snapshot, root, callees(snapshot, root, bounds))
