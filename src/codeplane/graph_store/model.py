"""Nodes, edges and the properties that every kind of store can keep alike."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

Value = str | int | float | bool | tuple[str, ...]
Properties = Mapping[str, Value]

LONGEST_ID: Final = 300
LONGEST_TEXT: Final = 20_000
MOST_PROPERTIES: Final = 64
MOST_ITEMS: Final = 1_000
RESERVED: Final = frozenset(("id", "kind", "source", "target", "version", "updated_at", "updated_by"))
_KIND: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_LARGEST_INTEGER: Final = 1 << 63


@dataclass(frozen=True, slots=True)
class Node:
    """A thing in the graph."""

    id: str
    kind: str
    properties: Properties = field(default_factory=dict)
    version: int = 1
    updated_at: str = ""
    updated_by: str = ""


@dataclass(frozen=True, slots=True)
class Edge:
    """A directed connection of two nodes; its id is its own, so two nodes may have several of one kind."""

    id: str
    kind: str
    source: str
    target: str
    properties: Properties = field(default_factory=dict)
    version: int = 1
    updated_at: str = ""
    updated_by: str = ""


class Link(NamedTuple):
    """What a traversal reads of an edge."""

    source: str
    kind: str
    target: str
    id: str


class RowRefused(ValueError):
    """A node or edge that no store takes; the message says why in one clause."""


def check_node(node: Node) -> None:
    """Refuses a node that one of the stores could not keep, or not give back as it was."""
    _check_id("id", node.id)
    _check_kind(node.kind)
    _check_properties(node.properties)
    _check_version(node.version)


def check_edge(edge: Edge) -> None:
    """Refuses an edge that one of the stores could not keep, or not give back as it was."""
    for name, value in (("id", edge.id), ("source", edge.source), ("target", edge.target)):
        _check_id(name, value)
    _check_kind(edge.kind)
    _check_properties(edge.properties)
    _check_version(edge.version)


def _check_id(name: str, value: object) -> None:
    if not isinstance(value, str) or not value or len(value) > LONGEST_ID or not value.isprintable():
        raise RowRefused(f"`{name}` has to be a printable text of 1 to {LONGEST_ID} characters")


def _check_kind(kind: object) -> None:
    if not isinstance(kind, str) or not _KIND.fullmatch(kind):
        raise RowRefused("`type` has to be a word of letters, digits and `_`, such as `ColumnDef`")


def _check_version(version: object) -> None:
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version < _LARGEST_INTEGER:
        raise RowRefused("`version` has to be a whole number from 1")


def _check_properties(properties: object) -> None:
    if not isinstance(properties, Mapping) or len(properties) > MOST_PROPERTIES:
        raise RowRefused(f"`properties` has to be an object of at most {MOST_PROPERTIES} values")
    for name, value in properties.items():
        if not isinstance(name, str) or not _KIND.fullmatch(name):
            raise RowRefused(f"the property {str(name)[:60]!r} is not a word of letters, digits and `_`")
        if name in RESERVED:
            raise RowRefused(f"the property `{name}` has the name of a field")
        _check_value(name, value)


def _check_value(name: str, value: object) -> None:
    if isinstance(value, bool):
        return
    if isinstance(value, str) and len(value) <= LONGEST_TEXT and _is_unicode(value):
        return
    if isinstance(value, int) and -_LARGEST_INTEGER <= value < _LARGEST_INTEGER:
        return
    if isinstance(value, float) and math.isfinite(value):
        return
    if isinstance(value, tuple) and len(value) <= MOST_ITEMS and all(_is_item(item) for item in value):
        return
    raise RowRefused(
        f"the property `{name}` is no text (up to {LONGEST_TEXT} characters), number, boolean or list of"
        " texts"
    )


def _is_item(value: object) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST_TEXT and _is_unicode(value)


def _is_unicode(text: str) -> bool:
    # Half of a surrogate pair can be written in JSON and in no database.
    return not any("\ud800" <= character <= "\udfff" for character in text)
