"""Removes an attribute of a JSX element."""

from collections.abc import Sequence

from tree_sitter import Node

from codeplane.core.edits import TextEdit
from codeplane.languages.javascript.operations._elements import (
    Attribute,
    attributes_of,
    name_errors,
    tag_of,
)
from codeplane.languages.javascript.operations._guards import generated_notes, refuse_unsafe
from codeplane.languages.operations import Argument, Arguments, Match, Outcome, Source, operation


def _check(arguments: Arguments) -> Sequence[str]:
    return name_errors(arguments.text("name"))


@operation(
    version=1,
    target="node",
    arguments=(Argument("name", "text", "the name of the attribute", is_required=True),),
    check_arguments=_check,
)
def remove_attribute(source: Source, match: Match, arguments: Arguments) -> Outcome:
    """Removes an attribute of a JSX element; a tag over several lines that has no other closes up."""
    refuse_unsafe(source)
    tag = tag_of(match.node)
    name = arguments.text("name").strip()
    attributes = attributes_of(source, tag)
    targets = [one for one in attributes if one.name == name]
    if not targets:
        return Outcome()
    notes = [f"`{source.text(one.node)}` may have a `{name}` too." for one in attributes if not one.name]
    notes += [f"`{name}` was there {len(targets)} times; all of them go."] if len(targets) > 1 else []
    comments = [child for child in tag.children if child.type == "comment"]
    if len(targets) == len(attributes) and not comments:
        return Outcome([_closed(source, tag, targets)], [*notes, *generated_notes(source)])
    edits = []
    for one in targets:
        edit, note = _removed(source, one)
        edits.append(edit)
        notes += note
    return Outcome(edits, [*notes, *generated_notes(source)])


def _closed(source: Source, tag: Node, targets: Sequence[Attribute]) -> TextEdit:
    """The tag without attributes; a blank before `/>` stays."""
    name = tag.child_by_field_name("type_arguments") or tag.child_by_field_name("name")
    assert name is not None, "BUG: a tag without a name"
    ending = tag.children[-1]
    end = targets[-1].node.end_byte
    gap = source.data[end : ending.start_byte]
    if b"\n" in gap:
        return source.replace(name.end_byte, ending.start_byte, " " if ending.type == "/>" else "")
    return source.delete(name.end_byte, end)


def _removed(source: Source, attribute: Attribute) -> tuple[TextEdit, list[str]]:
    """The edit for one attribute, with the comment at the end of its line."""
    node = attribute.node
    end, notes = node.end_byte, []
    following = node.next_sibling
    if (
        following is not None
        and following.type == "comment"
        and (
            source.line_of(following.start_byte) == source.line_of(end)
            and source.is_last_in_line(following.end_byte)
            and source.is_first_in_line(node.start_byte)
        )
    ):
        end = following.end_byte
        comment = source.text(following)
        notes.append(f"The comment `{comment}` belongs to `{source.text(node)}` and goes with it.")
    if source.is_first_in_line(node.start_byte) and source.is_last_in_line(end):
        return source.delete(source.line_start(node.start_byte), source.next_line(end)), notes
    previous = node.prev_sibling
    if source.is_first_in_line(node.start_byte) and following is not None:
        return source.delete(node.start_byte, following.start_byte), notes
    assert previous is not None, "BUG: nothing before an attribute"
    return source.delete(previous.end_byte, end), notes
