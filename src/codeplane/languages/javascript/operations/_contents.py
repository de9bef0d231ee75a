"""What stands inside of a piece of code."""

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from codeplane.languages.operations import Source


def nodes_in(node: Node, *kinds: str, stops: Sequence[str] = ()) -> Iterator[Node]:
    """The nodes of some kinds inside of a node, in order, but not inside of those where the walk stops."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if current.type in kinds:
            yield current
        if current == node or current.type not in stops:
            waiting += reversed(current.children)


def dynamic_code(source: Source, node: Node) -> list[int]:
    """Where code names variables by text, or by what an object has: `eval`, `with`."""
    places = [one.start_byte for one in nodes_in(node, "with_statement")]
    for call in nodes_in(node, "call_expression") if b"eval" in source.data else ():
        function = call.child_by_field_name("function")
        if function is not None and source.text(function) == "eval":
            places.append(call.start_byte)
    return sorted(places)
