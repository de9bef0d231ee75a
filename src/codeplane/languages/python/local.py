"""Imports inside of functions: they are made when the function is called, not when its module is loaded."""

from collections.abc import Iterator, Sequence
from typing import Final

from tree_sitter import Node

from codeplane.core.edits import TextEdit
from codeplane.core.text import LineStarts
from codeplane.languages.python.statements import written
from codeplane.languages.query import parse
from codeplane.languages.rules.carrying import Use, Wanted

_FOR_CHECKERS: Final = (b"TYPE_CHECKING", b"typing.TYPE_CHECKING")
_IMPORTS: Final = ("import_statement", "import_from_statement")


def is_deferred(data: bytes, line: int, column: int) -> bool:
    """Whether what stands at a place is not run when its module is loaded."""
    start = LineStarts(data).offset(line, column)
    return any(
        node.type in ("function_definition", "lambda")
        or (node.type == "if_statement" and _condition_text(node) in _FOR_CHECKERS)
        for node in _nodes_around(data, start)
    )


def _condition_text(node: Node) -> bytes:
    condition = node.child_by_field_name("condition")
    return condition.text or b"" if condition is not None else b""


def _nodes_around(data: bytes, start: int) -> Iterator[Node]:
    """The nodes around a byte, outer ones first."""
    node: Node | None = parse("python", data)
    while node is not None:
        yield node
        node = next((one for one in node.children if one.start_byte <= start < one.end_byte), None)


def import_locally(data: bytes, uses: Sequence[Use]) -> Sequence[TextEdit] | None:
    """Imports of what is used, in the outermost functions whose bodies use it; None where that is not all."""
    bodies: dict[int, tuple[Node, list[Wanted]]] = {}
    for use in uses:
        for start in use.offsets:
            body = next(
                (it for it in map(_body_of, _nodes_around(data, start)) if it and _holds_byte(it, start)),
                None,
            )
            if body is None:
                return None
            imports = bodies.setdefault(body.start_byte, (body, []))[1]
            if use.wanted not in imports:
                imports.append(use.wanted)
    changes = [_import_change(data, body, imports) for _, (body, imports) in sorted(bodies.items())]
    return None if None in changes else [one for one in changes if one is not None]


def _body_of(node: Node) -> Node | None:
    return node.child_by_field_name("body") if node.type == "function_definition" else None


def _holds_byte(node: Node, start: int) -> bool:
    return node.start_byte <= start < node.end_byte


def _import_change(data: bytes, body: Node, wanted: Sequence[Wanted]) -> TextEdit | None:
    """The imports before the first statement of a body that is no docstring."""
    lines = LineStarts(data)
    statements = [one for one in body.children if one.type != "comment"]
    first = statements[0] if statements else body
    is_docstring = first.type == "expression_statement" and first.child(0) is not None
    if is_docstring and (inner := first.child(0)) is not None and inner.type == "string":
        if len(statements) == 1:
            return None
        first = statements[1]
    line, column = lines.position(first.start_byte)
    indent = data[lines.offset(line, 0) : first.start_byte]
    if indent.strip() or not column:
        return None  # the body stands in the line of its header
    modules: dict[str | None, list[tuple[str, str]]] = {}
    for one in sorted(wanted, key=lambda it: (it.module is not None, it.module or "", it.name)):
        modules.setdefault(one.module, []).append((one.name, one.alias))
    rows = [f"{indent.decode()}{written(module, names)}\n" for module, names in modules.items()]
    gap = "" if first.type in _IMPORTS else "\n"
    return TextEdit(line, 0, "", "".join(rows) + gap)
