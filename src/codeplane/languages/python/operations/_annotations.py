"""How a type is written at a place: in quotes where its names are not there yet when it is evaluated."""

from collections.abc import Iterator

from tree_sitter import Node

from codeplane.languages.operations import OperationRefused, Source
from codeplane.languages.operations.changes import with_newlines
from codeplane.languages.operations.fragments import fragment_node
from codeplane.languages.python.import_blocks import IMPORTS, read_names
from codeplane.languages.python.operations._fragments import FRAMES
from codeplane.languages.python.operations._type_checking import type_checking_block


def written_type(source: Source, text: str, node: Node) -> str:
    """A type as it has to be written in the header of a definition, or in an assignment, at a node."""
    text = text.strip()
    if not _is_evaluated(source, node) or not any(
        _is_forward(source, name, node) for name in _names_in(text)
    ):
        return with_newlines(source, node.start_byte, text)
    quotes = "'\"" if source.data.count(b"'") > source.data.count(b'"') else "\"'"
    quote = next((mark for mark in quotes if mark not in text), None)
    if quote is None or "\n" in text:
        raise OperationRefused(f"`{text}` names a class that is defined later; write it as a string.", node)
    return f"{quote}{text}{quote}"


def same_type(one: str, other: str) -> bool:
    """Whether two types are written alike but for blanks and quotes around them."""
    return _bare_type(one) == _bare_type(other)


def _bare_type(text: str) -> str:
    text = "".join(text.split())
    return text[1:-1] if text[:1] in "'\"" and text[-1:] == text[:1] and text.count(text[:1]) == 2 else text


def _is_evaluated(source: Source, node: Node) -> bool:
    """Whether an annotation is evaluated while the module is loaded."""
    if source.path.endswith(".pyi"):
        return False
    parent = node.parent
    while parent is not None:
        if parent.type in ("function_definition", "lambda"):
            return False
        parent = parent.parent
    return not any(
        name.name == "annotations"
        for child in source.root.children
        if child.type == "future_import_statement"
        for name in read_names(source, child)[1]
    )


def _names_in(text: str) -> Iterator[str]:
    """The names that a type is made of, without members and without what stands in strings."""
    root = fragment_node("python", FRAMES["type"], text)
    waiting = [root] if root is not None else []
    while waiting:
        node = waiting.pop()
        if node.type == "identifier":
            yield (node.text or b"").decode("utf-8", "surrogateescape")
        elif node.type in ("attribute", "member_type"):
            waiting.append(node.children[0])
        elif node.type not in ("string", "keyword_argument"):
            waiting += node.children


def _is_forward(source: Source, name: str, node: Node) -> bool:
    """Whether a name is not bound yet when the code at a node is run."""
    parent = node.parent
    while parent is not None:
        own = parent.child_by_field_name("name") if parent.type == "class_definition" else None
        if own is not None and source.text(own) == name:
            return True
        parent = parent.parent
    places = [child.start_byte for child in source.root.children if name in _bound_by(source, child)]
    if places:
        return min(places) > node.start_byte
    block = type_checking_block(source)
    return block is not None and any(name in _bound_by(source, child) for child in block.children)


def _bound_by(source: Source, node: Node) -> list[str]:
    if node.type in IMPORTS:
        return [name.local for name in read_names(source, node)[1]]
    if node.type == "decorated_definition":
        node = node.child_by_field_name("definition") or node
    name = node.child_by_field_name("name") if node.type.endswith("_definition") else None
    if node.type == "expression_statement" and node.children and node.children[0].type == "assignment":
        name = node.children[0].child_by_field_name("left")
    return [source.text(name)] if name is not None else []
