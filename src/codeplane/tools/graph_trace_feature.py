from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.answers.pages import clamped
from codeplane.graph.places import place_of, position, qualified, short
from codeplane.graph.trace import TraceNode, trace
from codeplane.jail import shown
from codeplane.names import Snapshot
from codeplane.session import Call
from codeplane.tools._registry import Effect, Input, synonyms, tool

MOST_DEPTH = 6
MOST_NODES = 500


class GraphTraceFeatureInput(Input):
    entry_point: Annotated[str, synonyms("symbol", "symbol_id", "name", "query", "entry")] = Field(
        description="Entry point: qualified name or its end, `path:line`, or `sym_…`."
    )
    depth: Annotated[int, synonyms("max_depth")] = Field(default=3, description="Levels of calls, up to 6.")
    limit: int = Field(default=100, description="Most definitions to list, up to 500.")


class GraphTraceFeatureOutput(Output):
    entry_point: str = Field(description="Qualified name of the entry point.")
    at: str = Field(description="Where it is defined.")
    tree: list[str] = Field(
        description="`name path:line (notes)`, indented by depth, in the order of the calls; `:line` where "
        "the file is that of the line before."
    )
    truncated: bool | None = Field(default=None, description="Whether the limit cut the tree.")

    def render(self) -> str:
        cut = ["cut at the limit"] if self.truncated else []
        return "\n".join([*self.tree, *cut])


@tool(Effect.READ, "graph")
def graph_trace_feature(call: Call, args: GraphTraceFeatureInput) -> GraphTraceFeatureOutput:
    """Follows a feature from its entry point down: a tree of the proven calls.

    Notes name calls that lead out of the repository or are not proven, and members with overrides.

    Use when:
    - you want to understand how something works end to end before you change it
    Not for:
    - one level of calls (use `graph_callees`)
    Examples:
    - From a view: {"entry_point": "app.views.checkout", "depth": 4}
    """
    depth = clamped(call, "depth", args.depth, MOST_DEPTH)
    limit = clamped(call, "limit", args.limit, MOST_NODES)
    with call.snapshot() as snapshot:
        entry = place_of(snapshot.symbol(args.entry_point))
        result = trace(snapshot, entry, depth, limit)
        call.instead_of_files(snapshot, [entry.path, *(node.place.path for node in result.nodes)])
        return GraphTraceFeatureOutput(
            entry_point=qualified(snapshot, entry),
            at=position(snapshot, entry),
            tree=list(_tree(snapshot, result.nodes)),
            truncated=result.truncated or None,
        )


def _tree(snapshot: Snapshot, nodes: Sequence[TraceNode]) -> Iterator[str]:
    before = ""
    for node in nodes:
        notes = f" ({'; '.join(node.notes)})" if node.notes else ""
        where = position(snapshot, node.place)
        where = where[len(shown(before)) :] if node.place.path == before else where
        before = node.place.path
        yield f"{'  ' * node.depth}{short(snapshot, node.place)} {where}{notes}"
