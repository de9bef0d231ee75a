"""Sets an attribute of a JSX element."""

from collections.abc import Sequence

from tree_sitter import Node

from codeplane.core.edits import TextEdit
from codeplane.languages.javascript.operations._elements import (
    Attribute,
    attributes_of,
    name_errors,
    overriding_notes,
    tag_of,
    value_text,
)
from codeplane.languages.javascript.operations._guards import generated_notes, refuse_unsafe
from codeplane.languages.javascript.operations._types import same_code
from codeplane.languages.operations import Argument, Arguments, Match, Outcome, Source, operation


def _check(arguments: Arguments) -> Sequence[str]:
    errors = name_errors(arguments.text("name"))
    if "value" in arguments and "expression" in arguments:
        errors.append("Only one of value, expression can be sent.")
    return errors


@operation(
    version=1,
    target="node",
    arguments=(
        Argument("name", "text", "the name of the attribute", is_required=True),
        Argument("value", "text", "its value, a text; without one, the name alone is written"),
        Argument("expression", "expression", "its value as code, which goes into braces"),
    ),
    check_arguments=_check,
)
def set_attribute(source: Source, match: Match, arguments: Arguments) -> Outcome:
    """Sets an attribute of a JSX element; a new one goes behind the others."""
    refuse_unsafe(source)
    tag = tag_of(match.node)
    name = arguments.text("name").strip()
    attributes = attributes_of(source, tag)
    text = value_text(source, arguments.optional("value"), arguments.optional("expression"))
    index = next((number for number, one in enumerate(attributes) if one.name == name), None)
    if index is None:
        edit = _added(source, tag, attributes, name + text)
        return Outcome([edit], [*_name_notes(source, name), *generated_notes(source)])
    attribute = attributes[index]
    notes = overriding_notes(source, attributes, index)
    if _is_same(source, attribute, text):
        return Outcome((), notes)
    start = attribute.node.named_children[0].end_byte
    return Outcome([source.replace(start, attribute.node.end_byte, text)], notes)


def _is_same(source: Source, attribute: Attribute, text: str) -> bool:
    """Whether an attribute has a value already; quotes of either kind are the same."""
    own = "=" + source.text(attribute.value) if attribute.value is not None else ""
    is_text = own[1:2] in "\"'" and text[1:2] in "\"'"
    if own and text and is_text:
        return own[2:-1] == text[2:-1]
    return same_code(own, text) or {own, text} == {"", "={true}"}


def _added(source: Source, tag: Node, attributes: Sequence[Attribute], text: str) -> TextEdit:
    if not attributes:
        name = tag.child_by_field_name("type_arguments") or tag.child_by_field_name("name")
        assert name is not None, "BUG: a tag without a name"
        return source.insert(name.end_byte, f" {text}")
    last = attributes[-1].node
    end = last.end_byte
    following = last.next_sibling
    is_commented = following is not None and following.type == "comment"
    if is_commented and following is not None and source.line_of(following.start_byte) == source.line_of(end):
        end = following.end_byte
    if source.is_first_in_line(last.start_byte):
        return source.insert(end, f"{source.newline_at(end)}{source.indent_at(last.start_byte)}{text}")
    return source.insert(last.end_byte, f" {text}")


def _name_notes(source: Source, name: str) -> list[str]:
    names = {"class": "className", "for": "htmlFor"}
    if name not in names or b"react" not in source.data:
        return []
    return [f"React calls it `{names[name]}`."]
