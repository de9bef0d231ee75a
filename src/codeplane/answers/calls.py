"""Walks over calls as tools answer them."""

from typing import Any

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.answers.references import PossibleUses, possible_text, possible_uses
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.graph.calls import Node, Walk
from codeplane.graph.hierarchy import dispatch_targets, overriding
from codeplane.graph.places import position, qualified, short
from codeplane.graph.possible_uses import CERTAIN
from codeplane.names import Snapshot
from codeplane.session import Call

_MOST_NODES = 600
_MOST_UNRESOLVED = 15
_MOST_POSSIBLE = 40


class CallEdge(Output):
    tier: str = Field(description="Certainty tier of the call.")
    lines: list[int] = Field(description="Lines of the calls, in the caller's file.")
    other: str | None = Field(default=None, description="The other end, if it is not the symbol itself.")
    via: str | None = Field(default=None, description="What the call names, if that may dispatch elsewhere.")


class CallNode(Output):
    symbol: str = Field(description="Qualified name; for a file, its module.")
    name: str = Field(description="Name in its file.")
    at: str = Field(description="Where it is defined.")
    kind: str = Field(description="Kind of definition, or `file` for top-level code.")
    edges: list[CallEdge] = Field(description="Calls between it and the previous level.")


class CallLevel(Output):
    depth: int = Field(description="Distance from the symbol.")
    nodes: list[CallNode] = Field(description="Definitions at this distance, best proven first.")
    more: int | None = Field(default=None, description="Definitions beyond the limit.")


class CallGraph(Output):
    symbol: str = Field(description="Qualified name of the symbol.")
    at: str = Field(description="Where it is defined.")
    levels: list[CallLevel] = Field(description="Definitions by distance.")
    unresolved: dict[str, int] | None = Field(
        default=None, description="Calls that are not proven, by tier or by what is called."
    )
    possible: list[PossibleUses] | None = Field(default=None, description="Possible calls, by receiver.")
    overrides: int | None = Field(
        default=None, description="Members that a call may be dispatched to instead."
    )
    implementations: int | None = Field(
        default=None, description="Members of types that implement its interface without naming it."
    )
    hint: str | None = Field(default=None, description="How calls that are not listed may get there.")
    absence: str | None = Field(default=None, description="Why there are none.")

    def _lines(self, level: CallLevel, *, upwards: bool) -> list[str]:
        """The definitions of a level by file: callers with the lines of their calls, callees with theirs."""
        files: dict[str, list[str]] = {}
        for node in level.nodes:
            path, _, line = node.at.rpartition(":") if node.kind != "file" else (node.at, "", "")
            for edge in node.edges:
                call_lines = ",".join(map(str, edge.lines))
                way = f" → {edge.other}" if edge.other and upwards else ""
                way = f" (from {edge.other} at {call_lines})" if edge.other and not upwards else way
                way = way or ("" if upwards else f" (at {call_lines})")
                notes = [f"via {edge.via}"] if edge.via else []
                notes += [] if edge.tier in CERTAIN else ["possible"]
                note = f" ({', '.join(notes)})" if notes else ""
                name = node.name or "(top level)"
                files.setdefault(path, []).append(f"  {call_lines if upwards else line}: {name}{way}{note}")
        lines = [line for path, some in files.items() for line in (path, *some)]
        return [*lines, f"  {level.more} more at this level"] if level.more else lines


class Callers(CallGraph):
    def render(self) -> str:
        lines = [f"{self.symbol} ({self.at})"]
        counts = {"override": self.overrides or 0, "implementation": self.implementations or 0}
        targets = [f"{count} {word}{'s' if count > 1 else ''}" for word, count in counts.items() if count]
        lines += [f"a call may dispatch to {' or '.join(targets)}"] if targets else []
        if self.absence:
            lines.append(f"no calls: {self.absence}")
        for level in self.levels:
            lines += [f"level {level.depth}:"] if level.depth > 1 else []
            lines += self._lines(level, upwards=True)
        lines += possible_text(self.possible or (), sum((self.unresolved or {}).values()), "calls")
        return "\n".join([*lines, *([self.hint] if self.hint else [])])


class Callees(CallGraph):
    def render(self) -> str:
        lines = [f"{self.symbol} ({self.at})"]
        for level in self.levels:
            lines += [f"level {level.depth}:"] if level.depth > 1 else []
            lines += self._lines(level, upwards=False)
        if self.unresolved:
            calls = [f"{name} ×{count}" if count > 1 else name for name, count in self.unresolved.items()]
            lines.append(f"outside the repository or not resolved: {', '.join(calls)}")
        elif self.absence:
            lines.append(f"no calls: {self.absence}")
        return "\n".join(lines)


def callers_of(call: Call, snapshot: Snapshot, root: Place, walk: Walk, hint: str) -> Callers:
    """A walk upwards as an answer, with the calls that may be meant."""
    possible = possible_uses(snapshot, walk.possible, _MOST_POSSIBLE)
    overrides = len(list(overriding(snapshot, root)))
    implementations = len(dispatch_targets(snapshot, root)) - overrides
    return Callers(
        **_parts(call, snapshot, root, walk, upwards=True),
        unresolved={tier.value: count for tier in Tier if (count := walk.unresolved[tier.value])} or None,
        possible=possible or None,
        overrides=overrides or None,
        implementations=implementations or None,
        hint=hint or None,
    )


def callees_of(call: Call, snapshot: Snapshot, root: Place, walk: Walk) -> Callees:
    """A walk downwards as an answer, with the calls that lead elsewhere."""
    counts = dict(walk.unresolved.most_common(_MOST_UNRESOLVED))
    return Callees(**_parts(call, snapshot, root, walk, upwards=False), unresolved=counts or None)


def _parts(call: Call, snapshot: Snapshot, root: Place, walk: Walk, *, upwards: bool) -> dict[str, Any]:
    """What answers of both directions have; never more than so many nodes in all. Without the tool, files
    would have to be read."""
    paths = [root.path, *(node.place.path for level in walk.levels for node in level.nodes)]
    call.instead_of_files(snapshot, paths)
    levels = []
    left = _MOST_NODES
    for depth, level in enumerate(walk.levels, 1):
        nodes = [_node(snapshot, node, root, upwards) for node in level.nodes[:left]]
        left -= len(nodes)
        more = level.more + len(level.nodes) - len(nodes)
        levels.append(CallLevel(depth=depth, nodes=nodes, more=more or None))
    absence = None if walk.levels else snapshot.why_none(snapshot.definition(root).name)
    return {
        "symbol": qualified(snapshot, root),
        "at": position(snapshot, root),
        "levels": levels,
        "absence": absence.value if absence and not walk.unresolved else None,
    }


def _node(snapshot: Snapshot, node: Node, root: Place, upwards: bool) -> CallNode:
    edges = []
    for edge in node.edges:
        other = edge.callee if upwards else edge.caller
        edges.append(
            CallEdge(
                tier=edge.tier.value,
                lines=list(edge.lines),
                other=short(snapshot, other) if other != root else None,
                via=short(snapshot, edge.via) if edge.via is not None else None,
            )
        )
    place = node.place
    return CallNode(
        symbol=qualified(snapshot, place),
        name=short(snapshot, place),
        at=position(snapshot, place),
        kind=snapshot.definition(place).kind if place.definition >= 0 else "file",
        edges=edges,
    )
