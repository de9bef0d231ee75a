"""The parameters of a function, and the comments that give types in old code."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tree_sitter import Node

from codeplane.languages.operations import OperationRefused, Source
from codeplane.languages.operations.lists import SeparatedList, list_of

_TYPE_COMMENT: Final = re.compile(r"#\s*type:(?!\s*ignore)")
_SIGNATURE_COMMENT: Final = re.compile(r"#\s*type:\s*\(")
_SCOPES: Final = ("function_definition", "class_definition", "lambda")


@dataclass(frozen=True)
class Parameter:
    """One item of a parameter list: a parameter, `*`, or `/`."""

    node: Node
    name: Node | None  # None for `*` and `/`
    mark: str  # `*` or `**` before the name, or the `*` or `/` that it is
    annotation: Node | None
    default: Node | None

    def is_named(self, source: Source, name: str) -> bool:
        """Whether it is the parameter of a name."""
        return self.name is not None and source.text(self.name) == name


def function_of(node: Node) -> Node:
    """The function that a target is; refused for anything else."""
    if node.type != "function_definition":
        raise OperationRefused("The target is no function; name the function, as `Class.method`.", node)
    return node


def parameters_of(source: Source, function: Node) -> tuple[SeparatedList, list[Parameter]]:
    """The parameter list of a function for edits, and what each item is."""
    node = function.child_by_field_name("parameters")
    assert node is not None, "BUG: a function without parameters"
    items = list_of(source, node, trailing=True)
    return items, [_parameter(item.node) for item in items.items]


def _parameter(node: Node) -> Parameter:
    if node.type in ("keyword_separator", "positional_separator"):
        return Parameter(node, None, "*" if node.type == "keyword_separator" else "/", None, None)
    pattern = node
    if node.type in ("typed_parameter", "default_parameter", "typed_default_parameter"):
        pattern = node.child_by_field_name("name") or node.named_children[0]
    mark = {"list_splat_pattern": "*", "dictionary_splat_pattern": "**"}.get(pattern.type, "")
    name = pattern.named_children[0] if mark else pattern
    return Parameter(
        node,
        name if name.type == "identifier" else None,
        mark,
        node.child_by_field_name("type"),
        node.child_by_field_name("value"),
    )


def decorator_names(source: Source, function: Node) -> set[str]:
    """The last names of the decorators of a function: `setter` of `@x.setter`."""
    parent = function.parent
    if parent is None or parent.type != "decorated_definition":
        return set()
    texts = [source.text(one.named_children[0]) for one in parent.children if one.type == "decorator"]
    return {text.partition("(")[0].strip().rpartition(".")[2] for text in texts}


def is_method(source: Source, function: Node) -> bool:
    """Whether the first parameter of a function is the object or the class that it is called on."""
    node = function.parent
    if node is not None and node.type == "decorated_definition":
        node = node.parent
    while node is not None and node.type not in _SCOPES:
        node = node.parent
    in_class = node is not None and node.type == "class_definition"
    return in_class and "staticmethod" not in decorator_names(source, function)


def refuse_type_comments(source: Source, function: Node) -> None:
    """Refuses a function whose types are in a comment that would not fit any more."""
    for node in (*function.children, *_body_comments(function)):
        if node.type == "comment" and _SIGNATURE_COMMENT.match(source.text(node)):
            line = source.line_of(node.start_byte)
            raise OperationRefused(
                f"Line {line} gives the types in a comment; turn it into annotations.", node
            )


def _body_comments(function: Node) -> Iterator[Node]:
    body = function.child_by_field_name("body")
    for child in body.children if body is not None else ():
        if child.type != "comment":
            return
        yield child


def is_type_comment(text: str) -> bool:
    """Whether a comment gives the type of what stands before it."""
    return _TYPE_COMMENT.match(text) is not None


def docstring_of(source: Source, function: Node) -> str:
    """The docstring of a function, or nothing."""
    body = function.child_by_field_name("body")
    first = next((child for child in body.children if child.type != "comment"), None) if body else None
    if first is None or first.type != "expression_statement" or first.child_count != 1:
        return ""
    return source.text(first) if first.children[0].type == "string" else ""


def documents_parameters(docstring: str) -> bool:
    """Whether a docstring describes parameters, in one of the usual styles."""
    return (
        re.search(r":param |@param |^\s*(?:Args|Arguments|Parameters)\s*:?\s*$", docstring, re.MULTILINE)
        is not None
    )


def documents_parameter(docstring: str, name: str) -> bool:
    """Whether a docstring describes one parameter."""
    pattern = rf"[:@]param\s[^:\n]*\b{re.escape(name)}\b|^\s*\*{{0,2}}{re.escape(name)}\s*(?:\([^)]*\))?\s*:"
    return documents_parameters(docstring) and re.search(pattern, docstring, re.MULTILINE) is not None
