from pydantic import Field

from codeplane.answers.calls import Callers, callers_of
from codeplane.core.places import Place
from codeplane.graph.calls import Bounds, callers, interface_of
from codeplane.graph.places import place_of, qualified
from codeplane.names import Snapshot
from codeplane.session import Call
from codeplane.tools._registry import Effect, tool
from codeplane.tools._schema import UNLISTED
from codeplane.tools._walk import WalkInput, bounds_of


class GraphCallersInput(WalkInput):
    follow_interface: bool = Field(
        default=False,
        description="Also calls to the base members that it overrides.",
        json_schema_extra=UNLISTED,
    )


@tool(Effect.READ, "graph", standard=True)
def graph_callers(call: Call, args: GraphCallersInput) -> Callers:
    """Lists what calls a function or instantiates a class, and what calls that, level by level.

    Possible calls follow, by receiver, with the reason.

    Use when:
    - you want to know what depends on a function's behaviour
    Not for:
    - uses other than calls, or the text of each call (use `refs_find`)
    Examples:
    - Two levels up: {"symbol": "Model.save", "depth": 2}
    """
    bounds = bounds_of(call, args, follow_interface=args.follow_interface)
    with call.snapshot() as snapshot:
        root = place_of(snapshot.symbol(args.symbol))
        walk = callers(snapshot, root, bounds)
        is_listed = any(use.via is not None for use in walk.possible)
        hint = "" if is_listed else _render_hint(snapshot, root, bounds)
        return callers_of(call, snapshot, root, walk, hint)


def _render_hint(snapshot: Snapshot, root: Place, bounds: Bounds) -> str:
    above = [] if bounds.follow_interface else interface_of(snapshot, root)
    if not above:
        return ""
    names = ", ".join(qualified(snapshot, place) for place in above[:3])
    return f"It overrides {names}; calls to that may reach it (follow_interface=true)."
