"""Checks that a text is one piece of syntax: an expression, a type, and nothing that ends it and goes on."""

from collections.abc import Mapping
from typing import NamedTuple

from tree_sitter import Node

from codeplane.languages.query import parse

LONGEST = 10_000


class Frame(NamedTuple):
    """Code around a fragment in which it is parsed."""

    before: str
    after: str = ""
    kinds: frozenset[str] = frozenset()  # of the node that the fragment has to be; empty for any
    languages: frozenset[str] = frozenset()  # of the pack that have such a piece of syntax; empty for all


def fragment_node(language: str, frame: Frame, text: str) -> Node | None:
    """The node that a fragment is in its frame; None where it is not exactly one piece of syntax."""
    if not text.strip() or len(text) > LONGEST or "\0" in text:
        return None
    try:
        before, middle = frame.before.encode(), text.strip().encode()
    except UnicodeEncodeError:
        return None
    root = parse(language, before + middle + frame.after.encode())
    if root.has_error:
        return None
    start, end = len(before), len(before) + len(middle)
    node: Node | None = root.descendant_for_byte_range(start, end)
    if node is None or (node.start_byte, node.end_byte) != (start, end):
        return None
    while node is not None and (node.start_byte, node.end_byte) == (start, end):
        if not frame.kinds or node.type in frame.kinds:
            return node
        node = node.parent
    return None


def fragment_error(language: str, frames: Mapping[str, Frame], kind: str, text: str) -> str | None:
    """Why a text is no fragment of a kind, or nothing."""
    frame = frames.get(kind)
    if frame is None or (frame.languages and language not in frame.languages):
        return None  # the operation itself refuses what a language has not
    if fragment_node(language, frame, text) is not None:
        return None
    return f"{text[:80]!r} is not one {kind} of {language}."
