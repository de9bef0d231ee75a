"""The tree of a feature as answers have it, and as text."""

from collections.abc import Iterator, Sequence
from typing import Final

from pydantic import Field

from codeplane.answers.annotations import AnnotationRow, annotation_phrases, annotation_rows
from codeplane.answers.output import Output
from codeplane.core.places import Place
from codeplane.graph.places import flags_of, position, qualified, short
from codeplane.graph.possible_uses import CERTAIN
from codeplane.graph.trace import Way
from codeplane.jail import shown
from codeplane.languages.facts import FLAG_ABSTRACT, FLAG_ASYNC, FLAG_TEST
from codeplane.names import Snapshot
from codeplane.surfaces.tracing.walk import Node, tier_of

_TRAITS: Final = {FLAG_ASYNC: "async", FLAG_ABSTRACT: "abstract", FLAG_TEST: "test"}
_MOST_NAMES: Final = 3
_MOST_KEPT: Final = 12


class TraceNodeRow(Output):
    symbol: str | None = Field(default=None, description="Qualified name; none of a function without one.")
    stable_id: str | None = Field(default=None, description="`sym_…`.")
    name: str = Field(description="Name in its file.")
    at: str = Field(description="`path:line`.")
    depth: int = Field(description="Level below the entry point.")
    way: str | None = Field(
        default=None,
        description="How it is reached, if not by a call: implementation, override, passed, decorator, "
        "dependency, middleware, member.",
    )
    via: str | None = Field(default=None, description="What is called, where that is not this one.")
    line: int | None = Field(default=None, description="Line that leads there, in the caller's file.")
    tier: str | None = Field(default=None, description="How far the way there is proven, if not for sure.")
    traits: list[str] | None = Field(default=None, description="async, abstract, test, recursive.")
    annotations: list[AnnotationRow] | None = Field(
        default=None, description="What frameworks mean here: endpoints, keys, tables, exceptions, messages…"
    )
    again: list[str] | None = Field(default=None, description="What it also leads to, elsewhere in the tree.")
    passes: list[str] | None = Field(
        default=None, description="Functions that are handed to something, which may run them."
    )
    creates: list[str] | None = Field(default=None, description="Classes without code of their own to run.")
    outside: list[str] | None = Field(default=None, description="Calls of other packages.")
    unproven: list[str] | None = Field(default=None, description="Calls that are not proven.")
    more: int | None = Field(default=None, description="Ways on that are not in the tree.")
    children: list["TraceNodeRow"] | None = Field(default=None, description="What runs next, in order.")


def node_row(snapshot: Snapshot, node: Node, name: str = "") -> TraceNodeRow:
    """A node with everything below it."""
    place, step = node.region.place, node.step
    flags = flags_of(snapshot, place) if place is not None else 0
    return TraceNodeRow(
        symbol=qualified(snapshot, place) if place is not None else None,
        stable_id=snapshot.uid(place.path, place.definition) if place is not None else None,
        name=short(snapshot, place) if place is not None else name,
        at=_position(snapshot, node),
        depth=node.depth,
        way=step.way.value if step is not None and step.way is not Way.CALL else None,
        via=short(snapshot, step.via) if step is not None and step.via is not None else None,
        line=step.line if step is not None else None,
        tier=tier_of(node).value if tier_of(node).value not in CERTAIN else None,
        traits=[
            *(word for flag, word in _TRAITS.items() if flags & flag),
            *(["recursive"] if node.is_recursive else []),
        ]
        or None,
        annotations=annotation_rows(node.annotations) or None,
        again=_names(snapshot, node.again),
        passes=_names(snapshot, node.passed),
        creates=_names(snapshot, node.created),
        outside=[shown(text) for text in _not_raised(node)[:_MOST_KEPT]] or None,
        unproven=[shown(text) for text in node.unproven[:_MOST_KEPT]] or None,
        more=node.more or None,
        children=[node_row(snapshot, child) for child in node.children] or None,
    )


def _not_raised(node: Node) -> list[str]:
    """The calls of other packages without those that make what is raised."""
    raised = {one.value.rpartition(".")[2] for one in node.annotations if one.kind == "exception"}
    return [text for text in node.outside if text.rpartition(".")[2] not in raised]


def _position(snapshot: Snapshot, node: Node) -> str:
    if node.region.place is not None:
        return position(snapshot, node.region.place)
    lines = snapshot.all_occurrences(node.region.path).lines
    number = sum(start <= node.region.first for start in lines) if node.region.first else 1
    return f"{shown(node.region.path)}:{number}"


def _names(snapshot: Snapshot, places: Sequence[Place]) -> list[str] | None:
    return list(dict.fromkeys(short(snapshot, place) for place in places))[:_MOST_KEPT] or None


def tree_lines(roots: Sequence[TraceNodeRow]) -> Iterator[str]:
    """One line a node: where it is, what else it does, and what frameworks mean there."""
    before = ""
    waiting = list(reversed(roots))
    while waiting:
        row = waiting.pop()
        path, _, line = row.at.rpartition(":")
        where = f":{line}" if path == before else row.at
        before = path
        head = f"{_way(row)}{row.name} {where}".strip()
        notes = "; ".join(_notes(row))
        rows = [one for one in row.annotations or () if not _is_told(row, one)]
        facts = "; ".join(f"{word} {text}" for word, text in annotation_phrases(rows))
        yield "  " * row.depth + head + (f" ({notes})" if notes else "") + (f" — {facts}" if facts else "")
        waiting.extend(reversed(row.children or ()))


def _is_told(row: TraceNodeRow, one: AnnotationRow) -> bool:
    """Whether the tree says what an annotation does: the route at its top, what is injected below."""
    if one.kind == "di":
        return one.value.rpartition(".")[2] in {child.name for child in row.children or ()}
    return one.kind == "endpoint" and not row.depth


def _way(row: TraceNodeRow) -> str:
    if row.way is None or row.way == "member":
        return ""
    return f"{row.way} of {row.via}: " if row.via and row.way != "dependency" else f"{row.way} "


def _notes(row: TraceNodeRow) -> Iterator[str]:
    yield from row.traits or ()
    if row.tier:
        yield row.tier
    for word, names in (
        ("creates", row.creates),
        ("passes", row.passes),
        ("also", row.outside),
        ("unproven", row.unproven),
        ("again", row.again),
    ):
        if names:
            more = len(names) - _MOST_NAMES
            yield f"{word} {', '.join(names[:_MOST_NAMES])}" + (f" +{more}" if more > 0 else "")
    if row.more:
        yield f"{row.more} more below"
