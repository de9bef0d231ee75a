from typing import Annotated

from pydantic import Field

from codeplane.answers.feature_trace import TraceNodeRow, node_row, tree_lines
from codeplane.answers.output import Output
from codeplane.answers.pages import clamped
from codeplane.names import Snapshot
from codeplane.session import Call
from codeplane.surfaces.definition_facts import DefinitionFacts
from codeplane.surfaces.tracing.entries import EntryFinder, entry_position
from codeplane.surfaces.tracing.pipeline import passed_before
from codeplane.surfaces.tracing.walk import Bounds, FeatureTrace, Node, Walk
from codeplane.tools._registry import Effect, Input, synonyms, tool

MOST_DEPTH = 6
MOST_NODES = 500


class GraphTraceFeatureInput(Input):
    entry_point: Annotated[
        str, synonyms("symbol", "symbol_id", "name", "query", "entry", "route", "endpoint", "command")
    ] = Field(
        min_length=1,
        max_length=500,
        description="Qualified name or its end, `path:line`, `sym_…`; `GET /users/{id}`; or a command: "
        "`app db upgrade`.",
    )
    depth: Annotated[int, synonyms("max_depth")] = Field(default=3, description="Levels of calls, up to 6.")
    limit: int = Field(default=100, description="Most definitions to list, up to 500.")


class GraphTraceFeatureOutput(Output):
    entry_point: str = Field(description="Where the trace begins, by its qualified name.")
    entry_point_name: str = Field(description="Its name in its file.")
    entry_point_route: str | None = Field(
        default=None, description="Endpoints that it serves, or `$ ` and the command that runs it."
    )
    at: str = Field(description="`path:line` of its code.")
    route_at: str | None = Field(default=None, description="`path:line` of the route or command.")
    mounted: str | None = Field(default=None, description="`conditional` or `never seen`, if not always.")
    passes: list[str] | None = Field(
        default=None, description="Middleware that a request passes, in the order in which it runs."
    )
    nodes: list[TraceNodeRow] = Field(description="The entry point, and below it what runs.")
    total_nodes_traversed: int = Field(description="Definitions in the tree.")
    depth: int = Field(description="Levels that were followed.")
    truncated: bool | None = Field(default=None, description="Whether the limit cut the tree.")
    more: int | None = Field(default=None, description="Definitions that the limit left out, at least.")
    deeper: int | None = Field(default=None, description="Definitions below the depth, at least.")

    def render(self) -> str:
        lines = []
        if self.entry_point_route:
            where = f"  ({self.route_at})" if self.route_at else ""
            mount_note = f" [mounted: {self.mounted}]" if self.mounted else ""
            lines.append(f"{self.entry_point_route}{where}{mount_note}")
        lines += [f"passes: {', '.join(self.passes)}"] if self.passes else []
        lines += tree_lines(self.nodes)
        if self.truncated:
            lines.append(f"cut at {self.total_nodes_traversed}: at least {self.more} more")
        return "\n".join(lines)


@tool(Effect.READ, "graph")
def graph_trace_feature(call: Call, args: GraphTraceFeatureInput) -> GraphTraceFeatureOutput:
    """Follows a feature down from its entry point: what runs, with keys, tables, exceptions, messages.

    Interfaces and injected functions are followed to what implements them. Notes name calls of other
    packages and calls that are not proven.

    Use when:
    - you want to understand how an endpoint, a command or a function works end to end
    Not for:
    - one level of calls (use `graph_callees`)
    Examples:
    - From an endpoint: {"entry_point": "POST /orders"}
    - From a view: {"entry_point": "app.views.checkout", "depth": 4}
    - From a command: {"entry_point": "manage.py migrate"}
    """
    depth = clamped(call, "depth", args.depth, MOST_DEPTH)
    limit = clamped(call, "limit", args.limit, MOST_NODES)
    bounds = Bounds(max(1, depth), max(1, limit))
    return call.ask(lambda snapshot: _answer(call, snapshot, args.entry_point, bounds))


def _answer(call: Call, snapshot: Snapshot, text: str, bounds: Bounds) -> GraphTraceFeatureOutput:
    facts = DefinitionFacts(snapshot)
    entry = EntryFinder(snapshot, facts).find(text)
    result = Walk(snapshot, facts, bounds).trace(entry.regions, entry.before, entry.line)
    call.instead_of_files(snapshot, dict.fromkeys(node.region.path for node in _nodes(result)))
    roots = [node_row(snapshot, node, entry.name) for node in result.roots]
    endpoint = entry.endpoint
    mount_state = endpoint.mounted if endpoint is not None else "always"
    return GraphTraceFeatureOutput(
        entry_point=entry.name,
        entry_point_name=roots[0].name,
        entry_point_route=entry.route,
        at=entry_position(snapshot, entry),
        route_at=entry.at or None,
        mounted=None if mount_state == "always" else mount_state,
        passes=passed_before(snapshot, endpoint) if endpoint is not None else None,
        nodes=roots,
        total_nodes_traversed=result.total,
        depth=bounds.depth,
        truncated=result.more > 0 or None,
        more=result.more or None,
        deeper=result.deeper or None,
    )


def _nodes(result: FeatureTrace) -> list[Node]:
    nodes = list(result.roots)
    for node in nodes:  # grows as it is walked
        nodes += node.children
    return nodes
