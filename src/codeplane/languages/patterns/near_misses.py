"""What comes nearest to a pattern that matches nothing, and what differs there."""

import heapq
from collections.abc import Iterable
from typing import Final, NamedTuple

from tree_sitter import Node

from codeplane.languages.operations.source import Source
from codeplane.languages.patterns.finding import kind_nodes
from codeplane.languages.patterns.matching import Difference, Matcher
from codeplane.languages.patterns.pattern import Part, Pattern, parts_of

_MOST_NODES: Final = 20_000
_LONGEST_TEXT: Final = 60


class NearMiss(NamedTuple):
    """One piece of code that is almost what a pattern says."""

    line: int
    text: str  # its first line
    reason: str
    progress: int  # how many parts of the pattern agree
    has_name: bool  # whether it has the first name of the pattern


def near_misses(source: Source, pattern: Pattern, most: int = 3) -> list[NearMiss]:
    """The nodes of a file that come nearest to a pattern, the nearest first."""
    matcher = Matcher(pattern, source.data)
    name = first_name(pattern)
    misses = (
        _miss_of(source, matcher, node, name) for node in _first_nodes(kind_nodes(source, pattern.root))
    )
    return heapq.nsmallest(most, (miss for miss in misses if miss is not None), key=nearness)


def nearness(miss: NearMiss) -> tuple[bool, int, int]:
    """How near a miss is; the nearest sort first."""
    return not miss.has_name, -miss.progress, miss.line


def first_name(pattern: Pattern) -> str:
    """The name that a pattern is about: that of the function it calls, mostly."""
    names = [
        part
        for part in parts_of(pattern.root)
        if part.hole is None and not part.children and part.is_named and part.text and part.value is None
    ]
    return names[0].text.decode("utf-8", "replace") if names else ""


def _first_nodes(nodes: Iterable[Node]) -> Iterable[Node]:
    return (node for _, node in zip(range(_MOST_NODES), nodes, strict=False))


def _miss_of(source: Source, matcher: Matcher, node: Node, name: str) -> NearMiss | None:
    if matcher.match_node(node) is not None:
        # It is what the pattern says, but not in the code that has to be around it.
        return NearMiss(
            source.line_of(node.start_byte),
            _first_line(source, node),
            "it is not inside the code that `inside` names",
            1 << 20,
            True,
        )
    difference = matcher.difference
    if difference is None:
        return None
    has_name = bool(name) and name.encode() in source.data[node.start_byte : node.end_byte]
    if not has_name and not difference.progress:
        return None
    line = source.line_of(node.start_byte)
    return NearMiss(
        line, _first_line(source, node), reason_of(source, difference), difference.progress, has_name
    )


def reason_of(source: Source, difference: Difference) -> str:
    """What differs, in a few words."""
    part, node, parent, _ = difference
    if node is None:
        return f"{_shown_part(part)} is missing in the {_spoken(parent.type)}"
    text = _first_line(source, node)
    if part is None:
        return f"`{text}` in the {_spoken(parent.type)} is more than the pattern has"
    if part.hole is not None and part.is_many:
        return f"`{text}` is not what `{part.label}` can stand for"
    if part.hole is not None:
        return f"`{text}` differs from what `{part.label}` stands for before, or is no node"
    if part.is_named and part.kind != node.kind_id and part.kind_name != node.type:
        return f"`{text}` is {_with_article(node.type)}, not {_with_article(part.kind_name)}"
    return f"`{text}` is not {_shown_part(part)}"


def _shown_part(part: Part | None) -> str:
    if part is None:
        return "a part"
    return f"`{part.label}`" if part.text or part.hole is not None else f"the {_spoken(part.kind_name)}"


def _spoken(kind: str) -> str:
    return kind.replace("_", " ")


def _with_article(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {_spoken(kind)}"


def _first_line(source: Source, node: Node) -> str:
    text = source.slice(node.start_byte, min(node.end_byte, node.start_byte + 400))
    line = text.partition("\n")[0].rstrip()
    return line if len(line) <= _LONGEST_TEXT else line[: _LONGEST_TEXT - 1] + "…"
