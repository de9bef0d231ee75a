"""What queries cannot say: the exports of CommonJS, whose local name stands after the exported one."""

from tree_sitter import Node

from codeplane.languages.extraction.exports import Exported

_FUNCTIONS = ("function_expression", "arrow_function")


def read_exports(root: Node, data: bytes) -> list[Exported]:
    """`module.exports = …`, `exports.x = …` and `module.exports.x = …` at the top of a program."""
    items: list[Exported] = []
    if b"exports" not in data:
        return items
    for statement in root.named_children:
        assignment = statement.named_child(0) if statement.type == "expression_statement" else None
        if assignment is None or assignment.type != "assignment_expression":
            continue
        left, right = assignment.child_by_field_name("left"), assignment.child_by_field_name("right")
        if left is None or right is None or left.type != "member_expression":
            continue
        object_, name = left.child_by_field_name("object"), left.child_by_field_name("property")
        if object_ is None or name is None:
            continue
        if _node_text(left, data) == b"module.exports":
            items += _whole_exports(right, data)
        elif _node_text(object_, data) in (b"exports", b"module.exports"):
            items += _single_export(name, right, data)
    return items


def _node_text(node: Node, data: bytes) -> bytes:
    return data[node.start_byte : node.end_byte]


def _single_export(name: Node, value: Node, data: bytes) -> list[Exported]:
    export_name = _node_text(name, data)
    if value.type == "identifier":
        return [_export_of(export_name, value, data)]
    # A function is a definition of the exported name; another value has none.
    items = _defined_export(name, data)
    return [items if value.type in _FUNCTIONS else items._replace(local=b"")]


def _whole_exports(value: Node, data: bytes) -> list[Exported]:
    if value.type == "identifier":
        return [_export_of(b"default", value, data)]
    items: list[Exported] = []
    for item in value.named_children if value.type == "object" else ():
        name = item.child_by_field_name("key") or item.child_by_field_name("name") or item
        if item.type == "shorthand_property_identifier":
            items.append(_export_of(_node_text(item, data), item, data))
        elif item.type in ("pair", "method_definition") and name.type == "property_identifier":
            property_value = item.child_by_field_name("value")
            if property_value is not None and property_value.type == "identifier":
                items.append(_export_of(_node_text(name, data), property_value, data))
            elif property_value is None or property_value.type in _FUNCTIONS:
                items.append(
                    Exported(
                        _node_text(name, data),
                        _node_text(name, data),
                        name.start_byte,
                        name.start_byte,
                        "explicit_export",
                    )
                )
    return items


def _export_of(name: bytes, local: Node, data: bytes) -> Exported:
    return Exported(name, _node_text(local, data), local.start_byte, local.end_byte, "explicit_export")


def _defined_export(name: Node, data: bytes) -> Exported:
    """What is defined where it is exported, under that name."""
    text = _node_text(name, data)
    return Exported(text, text, name.start_byte, name.start_byte, "explicit_export")
