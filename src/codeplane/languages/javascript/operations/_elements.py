"""The attributes of a JSX element."""

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

from tree_sitter import Node

from codeplane.languages.javascript.operations._contents import nodes_in
from codeplane.languages.operations import OperationRefused, Source

_TAGS: Final = ("jsx_opening_element", "jsx_self_closing_element")
_NAME: Final = re.compile(r"[A-Za-z_$][\w$-]*(?::[A-Za-z_$][\w$-]*)?\Z")
_ENTITY: Final = re.compile(r"&(?:#\w+|\w+);")


@dataclass(frozen=True)
class Attribute:
    """An attribute of an element, or an object whose properties are attributes."""

    node: Node
    name: str  # empty for `{...props}`
    value: Node | None


def name_errors(name: str) -> list[str]:
    """What is wrong with the name of an attribute."""
    return [] if _NAME.match(name.strip()) else [f"`name`: {name[:80]!r} is no name of an attribute."]


def tag_of(node: Node) -> Node:
    """The tag that has the attributes of an element; refused for fragments and other code."""
    tag = node.child_by_field_name("open_tag") if node.type == "jsx_element" else node
    if tag is None or tag.type not in _TAGS:
        raise OperationRefused("The target is no element; send a pattern such as `<Button $$$REST />`.", node)
    if tag.child_by_field_name("name") is None:
        raise OperationRefused("A fragment has no attributes.", node)
    return tag


def attributes_of(source: Source, tag: Node) -> list[Attribute]:
    """The attributes of a tag in order."""
    attributes = []
    for child in tag.children:
        if child.type == "jsx_expression":
            attributes.append(Attribute(child, "", None))
        elif child.type == "jsx_attribute":
            parts = [one for one in child.named_children if one.type != "comment"]
            attributes.append(Attribute(child, source.text(parts[0]), parts[1] if len(parts) > 1 else None))
    return attributes


def value_text(source: Source, value: str | None, expression: str | None) -> str:
    """A value with its `=` as it is written: a text in quotes, code in braces, nothing for `true`."""
    if expression is not None:
        return f"={{{expression.strip()}}}"
    if value is None:
        return ""
    quotes = Counter(
        source.text(one)[:1]
        for attribute in nodes_in(source.root, "jsx_attribute")
        for one in attribute.named_children
        if one.type == "string"
    )
    marks = "'\"" if quotes["'"] > quotes['"'] else "\"'"
    mark = next((one for one in marks if one not in value), None)
    if mark is None or "\n" in value or _ENTITY.search(value):
        return f"={{{json.dumps(value, ensure_ascii=False)}}}"
    return f"={mark}{value}{mark}"


def overriding_notes(source: Source, attributes: list[Attribute], index: int) -> list[str]:
    """What is said of objects behind an attribute, which may have it too."""
    later = [one for one in attributes[index + 1 :] if not one.name]
    return [f"`{source.text(one.node)}` behind it may override it." for one in later[:1]]
