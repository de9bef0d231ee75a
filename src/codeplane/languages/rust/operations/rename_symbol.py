"""Renames a definition, a variable or a parameter in its file."""

import re
from collections.abc import Sequence

from tree_sitter import Node

from codeplane.languages.facts import Definition, Facts, Reason
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
from codeplane.languages.rust.operations._guards import lines_of, refuse_unsafe
from codeplane.languages.rust.operations._macro_view import (
    bind_at,
    facts_of,
    offset_of,
    opaque_mentions,
    uses_of,
)
from codeplane.languages.rust.operations._members import member_places, owner_of
from codeplane.languages.rust.operations._module_paths import Meaning, item_meaning, module_of
from codeplane.languages.rust.operations._names import name_errors
from codeplane.languages.rust.operations._rename_edits import (
    alias_replacement,
    apply_replacements,
    refuse_changed_meanings,
    replacement_at,
)

_BUILT_IN = re.compile(
    rb"#!?\[\s*(?:cfg|allow|warn|deny|expect|forbid|derive|doc|inline|test|must_use|deprecated|repr|path|cold"
    rb"|non_exhaustive|track_caller|ignore|should_panic|macro_use|macro_export|automatically_derived)\b"
)


def _check_name(arguments: Arguments) -> Sequence[str]:
    return name_errors(arguments, "to")


def _is_done(source: Source, target: str, arguments: Arguments) -> bool:
    head, separator, _ = target.rpartition("::") if "::" in target else target.rpartition(".")
    return bool(find_definitions(source, head + separator + arguments.text("to").strip()))


@operation(
    version=1,
    target="definition",
    arguments=(Argument("to", "name", "the new name", is_required=True),),
    check_arguments=_check_name,
    is_done=_is_done,
)
def rename_symbol(source: Source, match: Match, arguments: Arguments) -> Outcome:
    """Renames a definition, a variable, a parameter or an import in its file.

    Every place of the file that means it changes, format strings and short forms of fields among them;
    refused where a place may mean it or not, or where a macro names it.
    """
    new = arguments.text("to").strip()
    refuse_unsafe(source)
    names = match.captures.get("name")
    if not names:
        raise OperationRefused("An `impl` goes by the name of its type; rename that.", match.node)
    node = names[0]
    old = source.text(node)
    if old == new:
        return Outcome()
    facts = facts_of(source)
    _refuse_spellings(facts, old)
    definition = _definition_at(source, facts, node)
    is_member = definition is not None and owner_of(facts, definition) is not None
    if definition is not None and is_member:
        places = member_places(source, facts, definition, new)
        start, end = 0, len(source.data)
    else:
        places, start, end = _scope_places(source, facts, definition, node)
    _refuse_macros(source, old, start, end, is_local=definition is None)
    is_field = definition is not None and definition.kind == "field"
    replacements = [
        alias_replacement(source, node, old, new)
        if place == node.start_byte and _is_import(facts, source, node)
        else replacement_at(source, place, old, new, is_field=is_field)
        for place in sorted(set(places))
    ]
    after = apply_replacements(source, replacements)
    if not is_member:
        refuse_changed_meanings(source, after, replacements, places)
    edits = [source.replace(one.start, one.end, one.text) for one in replacements]
    return Outcome(edits, _rename_notes(source, match.node, old, places))


def _definition_at(source: Source, facts: Facts, node: Node) -> Definition | None:
    line = source.line_of(node.start_byte)
    column = node.start_byte - source.line_start(node.start_byte)
    return next(
        (one for one in facts.definitions if (one.name_line, one.name_column) == (line, column)), None
    )


def _is_import(facts: Facts, source: Source, node: Node) -> bool:
    bind = bind_at(source, facts, node)
    return bind is not None and facts.binds[bind].reason is Reason.IMPORT_ALIAS


def _refuse_spellings(facts: Facts, old: str) -> None:
    other = old.removeprefix("r#") if old.startswith("r#") else f"r#{old}"
    if other in facts.occurrences:
        raise OperationRefused(f"The file spells `{old}` also as `{other}`, which is the same name.")


def _scope_places(
    source: Source, facts: Facts, definition: Definition | None, node: Node
) -> tuple[list[int], int, int]:
    """Where something with a scope is named, and the bytes of that scope."""
    bind = bind_at(source, facts, node)
    old = source.text(node)
    if bind is None:
        raise OperationRefused(f"What `{old}` means can't be told.", node)
    if definition is not None and definition.kind == "module" and definition.body < 0:
        raise OperationRefused(f"The file of the module goes by the name `{old}`; move that.", node)
    places = uses_of(source, facts, old, bind)
    scope = facts.binds[bind].scope
    span = facts.scopes[scope].span
    start = source.line_offset(span.start_line) + span.start_column
    end = source.line_offset(span.end_line) + span.end_column if scope else len(source.data)
    if definition is None or module_of(facts, scope) != scope:
        return places, start, end
    unclear = []
    for one in facts.named(old):
        offset = offset_of(source, one)
        if offset in places:
            continue
        meaning = item_meaning(source, facts, one, offset, scope)
        places += [offset] if meaning is Meaning.YES else []
        unclear += [offset] if meaning is Meaning.UNCLEAR else []
    if unclear:
        raise OperationRefused(
            f"`{old}` at {lines_of(source, unclear)} may be this one or not; rename it in the whole project.",
            node,
        )
    return places, 0, len(source.data)


def _refuse_macros(source: Source, old: str, start: int, end: int, *, is_local: bool) -> None:
    """Refuses a name that stands in a macro or in an attribute that may do anything with it."""
    mentions = opaque_mentions(source, old, start, end)
    if mentions:
        raise OperationRefused(
            f"A macro at {lines_of(source, mentions)} names `{old}`; what it makes of that can't be told."
        )
    if is_local:
        return
    word = re.compile(rb"(?<![\w#])" + re.escape(old.encode("utf-8", "surrogateescape")) + rb"(?!\w)")
    waiting = [source.root]
    while waiting:
        node = waiting.pop()
        waiting += reversed(node.children)
        text = source.data[node.start_byte : node.end_byte]
        if node.type == "attribute_item" and word.search(text) and not _BUILT_IN.match(text):
            raise OperationRefused(f"`{source.text(node)}` names `{old}`.", node)


def _rename_notes(source: Source, node: Node, old: str, places: Sequence[int]) -> list[str]:
    notes = []
    if any(child.type == "visibility_modifier" for child in node.children):
        notes.append(f"Only this file changes; others may use `{old}`.")
    word = re.compile(rb"(?<![\w#])" + re.escape(old.encode("utf-8", "surrogateescape")) + rb"(?!\w)")
    texts = []
    for match in word.finditer(source.data):
        inner = source.root.descendant_for_byte_range(match.start(), match.end())
        is_text = inner is not None and ("comment" in inner.type or "string" in inner.type)
        texts += [match.start()] if is_text and match.start() not in places else []
    if texts:
        notes.append(f"Texts or comments name `{old}` at {lines_of(source, texts)}.")
    return notes
