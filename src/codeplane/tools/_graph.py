"""Walks over calls as tools answer them."""

from typing import Annotated

from pydantic import Field

from codeplane.core.proof import Tier
from codeplane.graph.calls import PROVED, Bounds, Node, Walk
from codeplane.graph.places import definition_of, position, qualified
from codeplane.index import Snapshot
from codeplane.languages.modules import Place
from codeplane.session import Call
from codeplane.tools._limits import clamped
from codeplane.tools._registry import Input, Output, synonyms
from codeplane.tools._symbol import SymbolName

MOST_DEPTH = 6
MOST_PER_LEVEL = 500
_MOST_NODES = 600
_MOST_UNTOLD = 15


class WalkInput(Input):
    """Where a walk over calls begins and how far it goes."""

    symbol: SymbolName
    depth: Annotated[int, synonyms("max_depth")] = Field(default=1, description="Levels, up to 6.")
    limit_per_level: Annotated[int, synonyms("limit")] = Field(
        default=20, description="Most definitions at each level, up to 500."
    )
    tiers: list[Tier] | None = Field(default=None, description="Edges to follow: proven and strong.")


class CallNode(Output):
    symbol: str = Field(description="Qualified name; of a file, its module.")
    at: str = Field(description="Where it is defined.")
    kind: str = Field(description="Kind of definition, or `file` for code outside of any.")
    edges: list[str] = Field(description="`tier [to symbol] :lines` of the calls, in the caller's file.")


class CallLevel(Output):
    depth: int = Field(description="Distance from the symbol.")
    nodes: list[CallNode] = Field(description="Definitions at this distance, best proven first.")
    more: int | None = Field(default=None, description="Definitions beyond the limit.")


class CallGraph(Output):
    symbol: str = Field(description="Qualified name of the symbol asked about.")
    at: str = Field(description="Where it is defined.")
    levels: list[CallLevel] = Field(description="Definitions by distance.")
    untold: dict[str, int] | None = Field(
        default=None, description="Calls that are not proven to be edges: by tier, or by what is called."
    )
    hint: str | None = Field(default=None, description="How calls may get there that are not listed.")
    absence: str | None = Field(default=None, description="Why there are none.")


def bounds_of(call: Call, args: WalkInput, *, follow_interface: bool = False) -> Bounds:
    """What was asked for, within what there may be."""
    return Bounds(
        clamped(call, "depth", args.depth, MOST_DEPTH),
        clamped(call, "limit_per_level", args.limit_per_level, MOST_PER_LEVEL),
        tuple(args.tiers) if args.tiers else PROVED,
        follow_interface,
    )


def told(
    call: Call, snapshot: Snapshot, root: Place, walk: Walk, *, upwards: bool, hint: str = ""
) -> CallGraph:
    """A walk as an answer; never more than so many nodes in all. Without it, files would have to be read."""
    paths = [root.path, *(node.place.path for level in walk.levels for node in level.nodes)]
    call.instead_of_files(snapshot, paths)
    levels = []
    left = _MOST_NODES
    for depth, level in enumerate(walk.levels, 1):
        nodes = level.nodes[:left]
        left -= len(nodes)
        more = level.more + len(level.nodes) - len(nodes)
        told_nodes = [_node(snapshot, node, root, upwards) for node in nodes]
        levels.append(CallLevel(depth=depth, nodes=told_nodes, more=more or None))
    absence = None if walk.levels else snapshot.why_none(definition_of(snapshot, root).name)
    return CallGraph(
        symbol=qualified(snapshot, root),
        at=position(snapshot, root),
        levels=levels,
        untold=dict(walk.untold.most_common(_MOST_UNTOLD)) or None,
        hint=hint or None,
        absence=absence.value if absence and not walk.untold else None,
    )


def _node(snapshot: Snapshot, node: Node, root: Place, upwards: bool) -> CallNode:
    edges = []
    for edge in node.edges:
        other = edge.callee if upwards else edge.caller
        name = f" {'to' if upwards else 'from'} {qualified(snapshot, other)}" if other != root else ""
        via = f" via {qualified(snapshot, edge.via)}" if edge.via is not None else ""
        edges.append(f"{edge.tier}{name}{via} :{','.join(map(str, edge.lines))}")
    place = node.place
    kind = definition_of(snapshot, place).kind if place.definition >= 0 else "file"
    return CallNode(symbol=qualified(snapshot, place), at=position(snapshot, place), kind=kind, edges=edges)
