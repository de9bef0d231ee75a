"""Renames a definition, a variable or a parameter in its file."""

import re
from collections.abc import Sequence

from tree_sitter import Node

from codeplane.languages.c.operations._bindings import places_of, refuse_misread, scope_of, space_of
from codeplane.languages.c.operations._directives import Preprocessed
from codeplane.languages.c.operations._guards import keyword_error, lines_of, refuse_unsafe
from codeplane.languages.c.operations._macros import refuse_macros
from codeplane.languages.c.operations._members import member_places
from codeplane.languages.c.operations._tokens import declaration_of, error_count, in_error, names_in
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
from codeplane.languages.operations.operation import Change


def _check_name(arguments: Arguments) -> Sequence[str]:
    new = arguments.text("to").strip()
    error = keyword_error("to", new)
    return [error] if error else []


def _is_done(source: Source, target: str, arguments: Arguments) -> bool:
    head, separator, _ = target.rpartition(".")
    return bool(find_definitions(source, head + separator + arguments.text("to").strip()))


def _check_result(change: Change) -> None:
    if error_count(change.after) > error_count(change.before):
        raise OperationRefused("The grammar reads the file in another way with the new name.")


@operation(
    version=1,
    target="definition",
    arguments=(Argument("to", "name", "the new name", is_required=True),),
    check_arguments=_check_name,
    is_done=_is_done,
    check_result=_check_result,
)
def rename_symbol(source: Source, match: Match, arguments: Arguments) -> Outcome:
    """Renames a function, a type, a variable, a member or a label in its file.

    Every place of the file that means it by its scope and name space changes; refused where a macro names it,
    or where a place may mean it or not.
    """
    new = arguments.text("to").strip()
    refuse_unsafe(source)
    names = match.captures.get("name", ())
    if not names:
        raise OperationRefused("The target has no name.", match.node)
    target, old = names[0], source.text(names[0])
    if old == new:
        return Outcome()
    if match.node.type.startswith("preproc"):
        raise OperationRefused("A macro is no symbol: what it stands for is text; rename it by hand.", target)
    refuse_macros(source, Preprocessed(source), old, new)
    _refuse_broken(source, old)
    places = member_places(source, target) if space_of(target) == "member" else places_of(source, target)
    refuse_misread(source, names_in(source, source.root, old))
    _refuse_collision(source, target, new)
    edits = [source.replace(one.start_byte, one.end_byte, new) for one in places]
    return Outcome(edits, _rename_notes(source, target, places))


def _refuse_broken(source: Source, old: str) -> None:
    places = [one.start_byte for one in names_in(source, source.root, old) if in_error(one)]
    if places:
        raise OperationRefused(
            f"`{old}` stands in code that the grammar can't read, at {lines_of(source, places)}."
        )


def _refuse_collision(source: Source, target: Node, new: str) -> None:
    """Refuses a name that is used already where the symbol is seen."""
    space, scope = space_of(target), scope_of(source, target)
    if space == "member":
        parent = target.parent
        while parent is not None and parent.type != "field_declaration_list":
            parent = parent.parent
        scope = parent if parent is not None else source.root
    alike = [one.start_byte for one in names_in(source, scope, new) if space_of(one) == space]
    if alike:
        raise OperationRefused(f"`{new}` is used already, at {lines_of(source, alike)}.", target)


def _rename_notes(source: Source, target: Node, places: Sequence[Node]) -> list[str]:
    name, notes = source.text(target), []
    declaration = declaration_of(target)
    specifiers = [source.text(one) for one in declaration.children] if declaration is not None else []
    is_file = scope_of(source, target) == source.root and "static" not in specifiers
    if is_file or space_of(target) == "member":
        notes.append(f"Only this file changes; others may use `{name}`.")
    calls = [one for one in places if _macro_call(source, one)]
    if calls:
        where = lines_of(source, [one.start_byte for one in calls])
        notes.append(f"A macro may get `{name}` at {where}; what it makes of the name can't be told.")
    word = re.compile(rb"(?<!\w)" + re.escape(name.encode("utf-8", "surrogateescape")) + rb"(?!\w)")
    tokens = {one.start_byte for one in names_in(source, source.root, name)}
    texts = [one.start() for one in word.finditer(source.data) if one.start() not in tokens]
    if texts:
        notes.append(f"Texts or comments name `{name}` at {lines_of(source, texts)}.")
    return notes


def _macro_call(source: Source, node: Node) -> bool:
    """Whether a name is passed to what looks like a macro."""
    parent = node.parent
    call = parent.parent if parent is not None and parent.type == "argument_list" else None
    function = call.child_by_field_name("function") if call is not None else None
    return function is not None and source.text(function).isupper()
