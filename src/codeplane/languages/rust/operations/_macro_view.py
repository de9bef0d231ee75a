"""A file in which the macros of the standard library are calls, byte for byte as long.

`println!("{x}", y)` becomes `println (( x ), y)`: what the arguments mean is then found as for other code.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from tree_sitter import Node

from codeplane.languages.extraction.extract import extract
from codeplane.languages.facts import Facts, Occurrence
from codeplane.languages.operations import OperationRefused, Source

# Which argument is the format string.
_FORMATS: Final = {
    **dict.fromkeys("print println eprint eprintln format format_args panic todo".split(), 0),
    **dict.fromkeys("unimplemented unreachable".split(), 0),
    **dict.fromkeys("write writeln assert debug_assert".split(), 1),
    **dict.fromkeys("assert_eq assert_ne debug_assert_eq debug_assert_ne".split(), 2),
}
_PLAIN: Final = ("dbg", "vec")
_DEPTH: Final = 6  # of macros in arguments of macros
_STRINGS: Final = ("string_literal", "raw_string_literal")
_FIELD: Final = re.compile(rb"\{\{|\}\}|\\u\{[^}]*\}|\{([^{}]*)\}")
_NAME: Final = re.compile(rb"(?:r#)?[A-Za-z_\x80-\xff][\w\x80-\xff]*")
_WIDTH: Final = re.compile(rb"(?:r#)?([A-Za-z_\x80-\xff][\w\x80-\xff]*)\$")


@lru_cache(maxsize=8)
def macro_view(data: bytes) -> Source:
    """The file with calls for the macros of the standard library, and for those in their arguments."""
    source = Source("rust", data)
    for _ in range(_DEPTH):
        changed = _calls_for_macros(source)
        if changed is None:
            break
        source = changed
    return source


@lru_cache(maxsize=8)
def _view_facts(data: bytes) -> Facts:
    return extract("rust", macro_view(data).data)


def facts_of(source: Source) -> Facts:
    """The facts of a file with its macros as calls; refused where it is too large or too broken for them."""
    facts = _view_facts(source.data)
    if facts.state in ("failed", "skipped"):
        raise OperationRefused(f"The file can't be read for the names in it: {facts.reason}.")
    return facts


def offset_of(source: Source, occurrence: Occurrence) -> int:
    """The byte that an occurrence begins with."""
    return source.line_offset(occurrence.line) + occurrence.column


def bind_at(source: Source, facts: Facts, node: Node) -> int | None:
    """The number of the binding that a name at a node means."""
    start = node.start_byte
    number = facts.occurrences.number_at(source.line_of(start), start - source.line_start(start))
    occurrence = facts.occurrences.at(number) if number is not None else None
    return occurrence.target - 1 if occurrence is not None and occurrence.target else None


def uses_of(source: Source, facts: Facts, name: str, bind: int) -> list[int]:
    """The bytes at which a binding is named, where it is bound included."""
    return [
        offset_of(source, one) for one in facts.named(name) if one.receiver == 0 and one.target == bind + 1
    ]


def opaque_mentions(source: Source, name: str, start: int, end: int) -> list[int]:
    """Where a name stands in the tokens of a macro that may do anything with it."""
    view = macro_view(source.data)
    plain = name.removeprefix("r#")
    places = [
        token.start_byte
        for tree in _nodes_of(view.root, "token_tree")
        if not _is_in_attribute(tree)
        for token in tree.children
        if token.type in ("identifier", "metavariable") and view.text(token).removeprefix("r#") == plain
    ]
    field = re.compile(rb"\{" + re.escape(plain.encode("utf-8", "surrogateescape")) + rb"[:}]")
    for kind in _STRINGS:
        for node in _nodes_of(view.root, kind):
            if _is_in_tokens(node) and not _is_in_attribute(node):
                own = view.data[node.start_byte : node.end_byte]
                places += [node.start_byte + match.start() for match in field.finditer(own)]
    return [place for place in places if start <= place < end]


def _is_in_attribute(node: Node) -> bool:
    parent = node.parent
    while parent is not None and parent.type == "token_tree":
        parent = parent.parent
    return parent is not None and parent.type == "attribute"


def _is_in_tokens(node: Node) -> bool:
    return node.parent is not None and node.parent.type == "token_tree"


def _nodes_of(root: Node, kind: str) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type == kind:
            yield node
        waiting += reversed(node.children)


def _calls_for_macros(source: Source) -> Source | None:
    """The file with one more level of macros as calls; None where there are none."""
    definitions = _nodes_of(source.root, "macro_definition")
    own = {source.text(node.child_by_field_name("name") or node) for node in definitions}
    macros = []
    for node in _nodes_of(source.root, "macro_invocation"):
        name = source.text(node.child_by_field_name("macro") or node)
        if (name in _FORMATS or name in _PLAIN) and name not in own and not node.has_error:
            macros.append(node)
    if not macros:
        return None
    errors = _count_errors(source)
    changed = _rewritten(source, macros)
    if _count_errors(changed) <= errors:
        return changed
    data = source
    for node in macros:
        single = _rewritten(source, [node], data.data)
        data = single if _count_errors(single) <= errors else data
    return data if data is not source else None


def _count_errors(source: Source) -> int:
    return sum(1 for _ in _nodes_of(source.root, "ERROR")) if source.root.has_error else 0


def _rewritten(source: Source, macros: Sequence[Node], data: bytes | None = None) -> Source:
    text = bytearray(source.data if data is None else data)
    for node in macros:
        _rewrite_call(source, node, text)
    return Source("rust", bytes(text))


def _rewrite_call(source: Source, node: Node, text: bytearray) -> None:
    name, tree = node.child_by_field_name("macro"), node.children[-1]
    if name is None or tree.type != "token_tree":
        return
    is_array = source.text(name) == "vec"
    text[name.end_byte : tree.start_byte] = b" " * (tree.start_byte - name.end_byte)
    if is_array:
        text[name.start_byte : name.end_byte] = b" " * (name.end_byte - name.start_byte)
    opening, closing = (b"[", b"]") if is_array else (b"(", b")")
    text[tree.start_byte : tree.start_byte + 1] = opening
    text[tree.end_byte - 1 : tree.end_byte] = closing
    position = _FORMATS.get(source.text(name))
    if position is not None:
        _rewrite_format(source, tree, position, text)


def _rewrite_format(source: Source, tree: Node, position: int, text: bytearray) -> None:
    """Makes the format string a tuple of the names in it, and takes the names from named arguments."""
    arguments: list[list[Node]] = [[]]
    for child in tree.children[1:-1]:
        if child.type == ",":
            arguments.append([])
        else:
            arguments[-1].append(child)
    names = set()
    for nodes in arguments[position + 1 :]:
        if len(nodes) > 2 and nodes[0].type == "identifier" and source.text(nodes[1]) == "=":
            names.add(source.data[nodes[0].start_byte : nodes[0].end_byte])
            text[nodes[0].start_byte : nodes[1].end_byte] = b" " * (nodes[1].end_byte - nodes[0].start_byte)
    formats = arguments[position] if position < len(arguments) else []
    if len(formats) == 1 and formats[0].type in _STRINGS:
        node = formats[0]
        own = source.data[node.start_byte : node.end_byte]
        text[node.start_byte : node.end_byte] = _tuple_of_names(own, names)


def _tuple_of_names(literal: bytes, names: set[bytes]) -> bytes:
    result = bytearray(byte if byte in b"\r\n" else 0x20 for byte in literal)
    result[0:1], result[-1:] = b"(", b")"
    for match in _FIELD.finditer(literal):
        if match[1] is None:
            continue
        colon = match.start(1) + len(match[1].partition(b":")[0])
        head = _NAME.match(literal, match.start(1), colon)
        spans = [head.span()] if head else []
        spans += [width.span(1) for width in _WIDTH.finditer(literal, colon, match.end(1))]
        for start, end in spans:
            if literal[start:end] not in names:
                result[start : end + 1] = literal[start:end] + b","
    return bytes(result)
