"""Checks that edits changed the tree of a file only where they should."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from codeplane.core.edits import TextEdit
from codeplane.languages.html.element_tree import Document, Element, Text
from codeplane.languages.html.selectors import document_of
from codeplane.languages.operations import OperationRefused, Source
from codeplane.languages.operations.operation import Change

_EDITED_NAME = "*"


class Event(NamedTuple):
    """An element or a run of text, and what it stands in."""

    name: str  # empty for text
    parent: int  # the number of the element, -1 for the file
    implied: tuple[str, ...]  # elements between the two that are not written


class Shape(NamedTuple):
    """The tree of a file without what edits took out or put in."""

    events: list[Event]
    elements: list[Element]
    offsets: list[int]  # of the events


def check_shape(change: Change) -> None:
    """Refuses edits after which another element or text would stand elsewhere than before."""
    _refuse_new_faults(change)
    old, new = shapes_of(change)
    for index, (first, second) in enumerate(zip(old.events, new.events, strict=False)):
        if first != second:
            _refuse(change.before, old.offsets[index], first)
    if len(old.events) != len(new.events):
        longer, source = (old, change.before) if len(old.events) > len(new.events) else (new, change.after)
        index = min(len(old.events), len(new.events))
        _refuse(source, longer.offsets[index], longer.events[index])


def _refuse_new_faults(change: Change) -> None:
    before = Counter(fault.reason for fault in document_of(change.before).faults)
    for fault in document_of(change.after).faults:
        before[fault.reason] -= 1
        if before[fault.reason] < 0:
            line = change.after.line_of(fault.offset)
            raise OperationRefused(f"It can't stand there: after the edit, at line {line}, {fault.reason}.")


def _refuse(source: Source, offset: int, event: Event) -> None:
    thing = f"`<{event.name}>`" if event.name.strip(_EDITED_NAME) else "the element" if event.name else "text"
    raise OperationRefused(
        f"After the edit, {thing} at line {source.line_of(offset)} would stand in another element than now."
    )


def shapes_of(change: Change) -> tuple[Shape, Shape]:
    """The trees before and after, each without the elements that only it has."""
    old_ranges, new_ranges = edited_ranges(change.before, change.edits)
    return shape_of(document_of(change.before), old_ranges), shape_of(document_of(change.after), new_ranges)


def edited_ranges(
    source: Source, edits: Sequence[TextEdit]
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The bytes that edits replace, and those that they leave in the file afterwards."""
    old, new, shift = [], [], 0
    for start, end, text in sorted({(*source.span_of(edit), edit.new) for edit in edits}):
        length = len(text.encode("utf-8", "surrogateescape"))
        old.append((start, end))
        new.append((start + shift, start + shift + length))
        shift += length - (end - start)
    return old, new


def shape_of(document: Document, ranges: Sequence[tuple[int, int]]) -> Shape:
    """The tree of a document without what begins in one of the ranges of bytes."""
    numbers: dict[int, int] = {}
    shape = Shape([], [], [])
    for offset, node in _in_order(document, ranges):
        name = ""
        if isinstance(node, Element):
            name = _EDITED_NAME if _is_inside(node.start_tag.name_start, ranges) else node.name
            numbers[id(node)] = len(shape.elements)
            shape.elements.append(node)
        event = Event(name, *_place_of(node, numbers))
        if name or not shape.events or shape.events[-1] != event:
            shape.events.append(event)
            shape.offsets.append(offset)
    return shape


def _in_order(document: Document, ranges: Sequence[tuple[int, int]]) -> Iterator[tuple[int, Element | Text]]:
    nodes: list[tuple[int, Element | Text]] = [(item.start, item) for item in document.elements]
    nodes += [(item.offset, item) for item in document.texts if not item.is_blank]
    position = 0
    for offset, node in sorted(nodes, key=lambda item: item[0]):
        while position < len(ranges) and ranges[position][1] <= offset:
            position += 1
        if position == len(ranges) or offset < ranges[position][0]:
            yield offset, node


def _place_of(node: Element | Text, numbers: dict[int, int]) -> tuple[int, tuple[str, ...]]:
    between = []
    parent = node.parent
    while parent is not None and id(parent) not in numbers:
        if parent.is_implied and parent.name:
            between.append(parent.name)
        parent = parent.parent
    return (numbers[id(parent)] if parent is not None else -1), tuple(between)


def _is_inside(offset: int, ranges: Sequence[tuple[int, int]]) -> bool:
    return any(start <= offset < end for start, end in ranges)
