"""What a file raises. It is read without its other sites, which would take several times as long."""

from functools import cache
from typing import NamedTuple

from tree_sitter import Node, Query

from codeplane.languages.query import captures, compiled, grammar_of, parse_within_limits
from codeplane.languages.sites.grammar import SiteGrammar
from codeplane.languages.sites.model import Value, ValueKind
from codeplane.languages.sites.reader import grammar_for
from codeplane.languages.sites.values import ValueReader


class Raise(NamedTuple):
    """One place that raises. Nothing behind `raise` raises what was caught again."""

    start: int
    value: Value | None
    caught_name: str = ""  # of the variable of the handler around
    classes: tuple[Value, ...] = ()  # the classes that the handler around catches


def read_raises(language: str, data: bytes) -> list[Raise]:
    """The places of a file that raise, in their order; none where it is beyond the limits."""
    grammar = grammar_for(language)
    query = _query_of(language) if grammar is not None else None
    root = parse_within_limits(language, data) if query is not None else None
    if grammar is None or query is None or root is None:
        return []
    nodes = [(node, role) for role, some in captures(query, root).items() for node in some]
    nodes.sort(key=lambda pair: (pair[0].start_byte, -pair[0].end_byte))
    return _sweep(ValueReader(grammar, data), grammar, nodes)


@cache
def _query_of(language: str) -> Query | None:
    grammar = grammar_for(language)
    assert grammar is not None, "BUG: asked for before"
    if not grammar.raises and not grammar.raising:
        return None
    kinds = grammar_of(language)
    lines = [grammar.raising]
    for role, nodes in (
        ("raise", grammar.raises),
        ("catch", grammar.catches),
        ("function", grammar.functions),
    ):
        lines += [f"({node}) @{role}" for node in sorted(nodes) if kinds.id_for_node_kind(node, True)]
    return compiled(language, "\n".join(lines))


def _sweep(reader: ValueReader, grammar: SiteGrammar, nodes: list[tuple[Node, str]]) -> list[Raise]:
    around: list[tuple[int, str, Node]] = []
    raises: list[Raise] = []
    for node, role in nodes:
        while around and around[-1][0] <= node.start_byte:
            around.pop()
        if role in ("catch", "function"):
            around.append((node.end_byte, role, node))
        elif role in ("raise", "bare") and not _is_callee(node, role):
            handler = around[-1][2] if around and around[-1][1] == "catch" else None
            raises.append(_raise_of(reader, grammar, node, handler))
    return raises


def _is_callee(node: Node, role: str) -> bool:
    """Whether a bare name is that of a call with arguments, which is there by itself."""
    return role == "bare" and node.parent is not None and node.parent.type == "call"


def _raise_of(reader: ValueReader, grammar: SiteGrammar, node: Node, handler: Node | None) -> Raise:
    value: Value | None = None
    if node.type in grammar.raises:
        # What stands in a field is no subject: `raise from cause` isn't one either.
        subject = next((one for one in node.named_children if one.type != "comment"), None)
        value = reader.read(subject) if subject is not None else None
    elif node.type in grammar.calls:
        call = reader.call(node, grammar.calls[node.type])
        # A macro raises a message that is made of all that stands in it.
        is_macro = node.type.startswith("macro")
        value = call if is_macro else call.arguments[0] if call.arguments else None
    if handler is None:
        return Raise(node.start_byte, value)
    types, name = grammar.catches[handler.type]
    names = reader.parts(handler, name)
    return Raise(
        node.start_byte,
        value,
        reader.text_of(names[0]).lstrip("&*$=> ") if names else "",
        tuple(_caught(reader, reader.parts(handler, types))),
    )


def _caught(reader: ValueReader, nodes: list[Node]) -> list[Value]:
    """The classes in what a handler names: one, or several in a tuple, a list or a union."""
    values: list[Value] = []
    for node in nodes:
        if node.type == "as_pattern":
            node = node.named_children[0]
        value = reader.read(node)
        if value.kind in (ValueKind.NAME, ValueKind.MEMBER):
            values.append(value)
        elif value.kind is ValueKind.LIST:
            values += value.items
        else:
            values += _caught(reader, node.named_children)
    return values
