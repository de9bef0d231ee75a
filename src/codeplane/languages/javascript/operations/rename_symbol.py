"""Renames a definition, a variable or a parameter in its file."""

import re
from collections.abc import Sequence
from typing import Final

from tree_sitter import Node

from codeplane.core.edits import TextEdit
from codeplane.languages.facts import Facts, Reason, ScopeKind
from codeplane.languages.javascript.operations._contents import dynamic_code, nodes_in
from codeplane.languages.javascript.operations._guards import generated_notes, refuse_unsafe
from codeplane.languages.javascript.operations._imports import module_form
from codeplane.languages.javascript.operations._members import member_at, member_uses, private_uses
from codeplane.languages.operations import (
    Argument,
    Arguments,
    Match,
    OperationRefused,
    Outcome,
    Source,
    operation,
)
from codeplane.languages.operations.addresses import find_definitions
from codeplane.languages.operations.bindings import (
    bind_at,
    facts_of,
    lines_of,
    offset_of,
    refuse_collisions,
    uses_of,
)

_NAMES: Final = (
    "identifier",
    "type_identifier",
    "property_identifier",
    "private_property_identifier",
    "shorthand_property_identifier",
    "shorthand_property_identifier_pattern",
)
_SHORTHAND: Final = ("shorthand_property_identifier", "shorthand_property_identifier_pattern")
_ELEMENTS: Final = ("jsx_opening_element", "jsx_closing_element", "jsx_self_closing_element")
_ESCAPE: Final = re.compile(r"\\u(?:\{([0-9a-fA-F]+)\}|([0-9a-fA-F]{4}))")
_SPECIAL: Final = frozenset(("constructor", "default", "__proto__", "arguments", "eval"))


def _is_done(source: Source, target: str, arguments: Arguments) -> bool:
    head, separator, last = target.rpartition(".")
    mark = "#" if last.startswith("#") else ""
    return bool(find_definitions(source, head + separator + mark + arguments.text("to").strip()))


@operation(
    version=1,
    target="definition",
    arguments=(Argument("to", "name", "the new name; of a private member without `#`", is_required=True),),
    is_done=_is_done,
)
def rename_symbol(source: Source, match: Match, arguments: Arguments) -> Outcome:
    """Renames a definition, a variable, a parameter or an import in its file.

    Every place of the file that means it by its scope changes, and what others see by its name keeps it where
    the syntax allows that; refused where a place may mean it or not.
    """
    refuse_unsafe(source)
    names = match.captures.get("name", ())
    if not names or names[0].type not in _NAMES:
        raise OperationRefused("It has no name that can be changed.", match.node)
    node, old = names[0], source.text(names[0])
    mark = "#" if old.startswith("#") else ""
    new = mark + arguments.text("to").strip()
    if old == new:
        return Outcome()
    if old.removeprefix("#") in _SPECIAL or new.removeprefix("#") in _SPECIAL:
        raise OperationRefused(f"`{old if old in _SPECIAL else new}` has its meaning by its name.", node)
    _refuse_escapes(source, old)
    facts = facts_of(source)
    places, binds = _places_of(source, facts, node, new)
    _refuse_dynamic(source, facts, node, old, binds)
    edits = [_edit_at(source, place, old, new) for place in sorted(set(places))]
    return Outcome(edits, _rename_notes(source, facts, old, places, binds))


def _places_of(source: Source, facts: Facts, node: Node, new: str) -> tuple[list[int], list[int]]:
    """The bytes at which the symbol is named, and the bindings that it has."""
    old = source.text(node)
    if old.startswith("#"):
        if any(source.text(one) == new for one in nodes_in(source.root, "private_property_identifier")):
            raise OperationRefused(f"The file has a `{new}` already.", node)
        return private_uses(source, node), []
    member = member_at(source, facts, node)
    if member is not None:
        owner = facts.definitions[member].parent
        if any(one.parent == owner and one.name == new for one in facts.definitions):
            raise OperationRefused(f"`{facts.definitions[owner].name}` has a `{new}` already.", node)
        return [*member_uses(source, facts, member), *_parameter_uses(source, facts, node, new)], []
    bind = bind_at(source, facts, node)
    if bind is None:
        raise OperationRefused(f"What `{old}` means can't be told.", node)
    # A type and a value of one name are exported and imported together.
    binds = [
        number
        for number, one in enumerate(facts.binds)
        if one.name == old and one.scope == facts.binds[bind].scope
    ]
    for number in binds:
        refuse_collisions(source, facts, number, new)
        _refuse_redeclaration(facts, number, new)
    return [place for number in binds for place in uses_of(source, facts, old, number)], binds


def _parameter_uses(source: Source, facts: Facts, node: Node, new: str) -> list[int]:
    """The uses of a parameter that makes a field: `constructor(private a: string)`."""
    bind = next(
        (
            number
            for number, one in enumerate(facts.binds)
            if one.reason is Reason.PARAM and offset_of(source, one) == node.start_byte
        ),
        None,
    )
    if bind is None:
        return []
    refuse_collisions(source, facts, bind, new)
    _refuse_redeclaration(facts, bind, new)
    return uses_of(source, facts, source.text(node), bind)


def _refuse_redeclaration(facts: Facts, bind: int, new: str) -> None:
    """Refuses a parameter and a variable of the body with one name."""
    scope = facts.binds[bind].scope
    for one in facts.binds:
        if one.name == new and (_is_body_of(facts, one.scope, scope) or _is_body_of(facts, scope, one.scope)):
            raise OperationRefused(f"`{new}` is bound at line {one.line} in the same function.")


def _is_body_of(facts: Facts, block: int, function: int) -> bool:
    inner, outer = facts.scopes[block], facts.scopes[function]
    is_function = outer.kind in (ScopeKind.FUNCTION, ScopeKind.ARROW)
    return is_function and inner.parent == function and inner.span[2:] == outer.span[2:]


def _refuse_escapes(source: Source, old: str) -> None:
    """Refuses a file that spells the name with escapes, which the facts do not read."""
    if b"\\u" not in source.data:
        return
    for node in nodes_in(source.root, *_NAMES):
        text = source.text(node)
        if "\\u" in text and _ESCAPE.sub(lambda one: chr(int(one[1] or one[2], 16)), text) == old:
            line = source.line_of(node.start_byte)
            raise OperationRefused(f"Line {line} spells `{old}` with an escape; write it out first.", node)


def _refuse_dynamic(source: Source, facts: Facts, node: Node, old: str, binds: Sequence[int]) -> None:
    """Refuses names that code asks for by their text."""
    places = [source.line_offset(one.line) + one.column for one in facts.dynamics if old in one.literals]
    if places and not binds:
        raise OperationRefused(f"The code asks for `{old}` by its text at {lines_of(source, places)}.", node)
    spans = [facts.scopes[facts.binds[bind].scope].span for bind in binds]
    for span in spans:
        start = source.line_offset(span.start_line) + span.start_column
        end = source.line_offset(span.end_line) + span.end_column
        dynamic = [place for place in dynamic_code(source, source.root) if start <= place < end]
        if dynamic:
            raise OperationRefused(
                f"Code at {lines_of(source, dynamic)} may name `{old}` in a way that can't be read.", node
            )


def _edit_at(source: Source, place: int, old: str, new: str) -> TextEdit:
    """One name replaced; what is a property or another module's name by it keeps that name."""
    end = place + len(old.encode("utf-8", "surrogateescape"))
    node = source.root.descendant_for_byte_range(place, end)
    parent = node.parent if node is not None else None
    text = new
    if node is not None and parent is not None:
        if node.type in _SHORTHAND:
            text = f"{old}: {new}"
        elif parent.type == "import_specifier" and parent.child_by_field_name("alias") is None:
            text = f"{old} as {new}"
        elif parent.type == "export_specifier" and parent.child_by_field_name("alias") is None:
            text = f"{new} as {old}"
        elif parent.type in _ELEMENTS and new[:1].islower():
            raise OperationRefused(
                f"An element `<{new}>` is the platform's; a component begins with a capital letter.", node
            )
    return source.replace(place, end, text)


def _rename_notes(
    source: Source, facts: Facts, old: str, places: Sequence[int], binds: Sequence[int]
) -> list[str]:
    notes = generated_notes(source)
    is_outer = any(facts.scopes[facts.binds[bind].scope].kind is ScopeKind.FILE for bind in binds)
    is_global = is_outer and module_form(source) is None
    is_exported = is_outer and any(_is_exported(source, offset_of(source, facts.binds[one])) for one in binds)
    is_member = not binds and not old.startswith("#")
    if is_global or is_member or is_exported:
        notes.append(f"Only this file changes; others may use `{old}`.")
    word = re.compile(rb"(?<![\w$])" + re.escape(old.encode("utf-8", "surrogateescape")) + rb"(?![\w$])")
    occurrences = set(facts.occurrences.starts_of(old)) | set(places)
    texts = [one.start() for one in word.finditer(source.data) if one.start() not in occurrences]
    texts = [one for one in texts if _is_text(source, one)]
    if texts:
        notes.append(f"Texts or comments name `{old}` at {lines_of(source, texts)}.")
    return notes


def _is_exported(source: Source, place: int) -> bool:
    """Whether a name is declared in a statement that exports it under that name."""
    node = source.root.descendant_for_byte_range(place, place + 1)
    while node is not None and node.type != "export_statement":
        node = node.parent
    return node is not None and all(child.type not in ("default", "export_clause") for child in node.children)


def _is_text(source: Source, place: int) -> bool:
    node = source.root.descendant_for_byte_range(place, place + 1)
    return node is not None and node.type in ("comment", "string_fragment", "template_string", "jsx_text")
