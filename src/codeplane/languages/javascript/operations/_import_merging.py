"""Puts a name into a statement that already takes from its module."""

from collections.abc import Callable, Sequence
from typing import Final

from codeplane.core.edits import TextEdit
from codeplane.languages.javascript.operations._import_style import ImportStyle, name_text, style_of
from codeplane.languages.javascript.operations._imports import (
    ImportedName,
    ImportStatement,
    import_statements,
)
from codeplane.languages.javascript.operations._requests import is_same_module, is_same_name
from codeplane.languages.operations import Source
from codeplane.languages.operations.lists import list_of


def merge_name(source: Source, request: ImportStatement, name: ImportedName) -> list[TextEdit] | None:
    """The edits that put a name into a statement; None where no statement can take it."""
    statements = [one for one in import_statements(source) if is_same_module(one, request)]
    statements = [one for one in statements if one.form == request.form and not one.is_effect]
    if name.place == "default":
        return _with_default(source, statements, request, name)
    if name.place != "braces":
        return None
    if request.is_type:
        edits = _into_types(source, statements, name)
        if edits is not None or not _has_inline_types(source):
            return edits
    values = [one for one in statements if not one.is_type and not one.placed("namespace")]
    for one in values:
        if one.braces is not None:
            return _into_braces(source, one, name)
    for one in values:
        if one.placed("default"):
            return [_with_braces(source, one, name)]
    types = [one for one in statements if one.is_type and one.braces is not None and one.names]
    return _converted(source, types[0], name) if types and not name.is_type else None


def _into_types(
    source: Source, statements: Sequence[ImportStatement], name: ImportedName
) -> list[TextEdit] | None:
    for one in statements:
        if one.is_type and one.braces is not None:
            return _into_braces(source, one, name)
    return None


def _has_inline_types(source: Source) -> bool:
    """Whether a file says `type` name by name, as in `import { a, type B }`."""
    return any(name.is_type for one in import_statements(source) if not one.is_type for name in one.names)


def _with_default(
    source: Source, statements: Sequence[ImportStatement], request: ImportStatement, name: ImportedName
) -> list[TextEdit] | None:
    """The default before the names in braces, or before the namespace; `import type` can't have both."""
    if request.is_type:
        return None
    for one in statements:
        if not one.is_type and one.names and not one.placed("default"):
            clause = one.braces if one.braces is not None else one.names[0].node
            return [source.insert(clause.start_byte, f"{name.local}, ")]
    return None


def _with_braces(source: Source, statement: ImportStatement, name: ImportedName) -> TextEdit:
    padding = style_of(source).padding
    padding = " " if padding is None else padding
    text = f", {{{padding}{name_text(name, statement)}{padding}}}"
    return source.insert(statement.placed("default")[0].node.end_byte, text)


def _into_braces(source: Source, statement: ImportStatement, name: ImportedName) -> list[TextEdit]:
    """The name among those in braces, by their order; one for each line where they get too long."""
    assert statement.braces is not None, "BUG: a statement without braces"
    text = name_text(name, statement)
    style = style_of(source)
    if not statement.names:
        padding = " " if style.padding is None else style.padding
        braces = statement.braces
        return [source.replace(braces.start_byte, braces.end_byte, f"{{{padding}{text}{padding}}}")]
    items = list_of(source, statement.braces, trailing=style.has_trailing_comma)
    index = _index_for(source, statement, name)
    if (
        not items.has_own_lines
        and not items.comments
        and not any(one.tail or one.lead for one in items.items)
    ):
        texts = [source.slice(one.start, one.end) for one in items.items]
        texts.insert(index, text)
        if rows := _wrapped(source, statement, style, texts):
            return [source.replace(statement.braces.start_byte, statement.braces.end_byte, rows)]
    return items.insert(index, text)


def _wrapped(
    source: Source, statement: ImportStatement, style: ImportStyle, texts: Sequence[str]
) -> str | None:
    """The names in braces on lines of their own, where one line is too long for them."""
    node = statement.node
    braces = statement.braces
    assert braces is not None, "BUG: a statement without braces"
    if b"\n" in source.data[node.start_byte : node.end_byte]:
        return None
    row = len(source.text(node)) + len(", ".join(texts)) - len(source.text(braces).strip("{ }"))
    if row <= style.width:
        return None
    newline = source.newline_at(node.start_byte)
    comma = "," if style.has_trailing_comma else ""
    inner = f",{newline}{style.indent}".join(texts)
    return f"{{{newline}{style.indent}{inner}{comma}{newline}}}"


NameKey = Callable[[ImportedName], tuple[object, ...]]

_NAME_KEYS: Final[Sequence[NameKey]] = (
    lambda one: (one.name.lower(),),
    lambda one: (not one.is_type, one.name.lower()),
    lambda one: (one.is_type, one.name.lower()),
    lambda one: (one.name,),
    lambda one: (not one.is_type, one.name),
    lambda one: (one.is_type, one.name),
    # `type B` among names is sorted by its keyword where a rule sorts texts.
    lambda one: (one.text,),
)


def _index_for(source: Source, statement: ImportStatement, name: ImportedName) -> int:
    """Where a name goes among those of a statement: by their order, or last.

    Where the names are in several orders, it is the one that most other statements of the file are in.
    """
    names = statement.placed("braces")
    keys = [key for key in _NAME_KEYS if _is_sorted(names, key)]
    if not keys:
        return len(names)
    others = [one.placed("braces") for one in import_statements(source) if one.form == statement.form]
    others = [one for one in others if len(one) > 1]
    key = max(keys, key=lambda own: sum(_is_sorted(one, own) for one in others))
    return next((number for number, one in enumerate(names) if key(one) > key(name)), len(names))


def _is_sorted(names: Sequence[ImportedName], key: NameKey) -> bool:
    keys = [key(one) for one in names]
    return keys == sorted(keys)


def _converted(source: Source, statement: ImportStatement, name: ImportedName) -> list[TextEdit] | None:
    """The edits that make `import type { A }` take a value too: `import { B, type A }`."""
    if statement.placed("default") or statement.placed("namespace") or statement.braces is None:
        return None
    keyword = next(one for one in statement.node.children if one.type in ("type", "typeof"))
    following = keyword.next_sibling
    assert following is not None, "BUG: nothing behind `type`"
    edits = [source.delete(keyword.start_byte, following.start_byte)]
    names = statement.placed("braces")
    items = list_of(source, statement.braces)
    edits += [items.replace(number, f"type {source.text(one.node)}") for number, one in enumerate(names)]
    first = items.items[0]
    joint = ", "
    if items.has_own_lines:
        joint = "," + source.newline_at(first.start) + source.indent_at(first.start)
    edits[1] = items.replace(
        0, f"{name_text(name, statement).removeprefix('type ')}{joint}type {source.text(names[0].node)}"
    )
    return edits


def promote_name(source: Source, request: ImportStatement, name: ImportedName) -> list[TextEdit] | None:
    """The edits that make a value of a name that is imported as a type; None where it is not imported."""
    for statement in import_statements(source):
        if not is_same_module(statement, request) or name.is_type:
            continue
        own = next((one for one in statement.names if is_same_name(one, name)), None)
        if own is None or not own.is_type:
            continue
        keywords = [one for one in own.node.children if one.type == "type"] if own.place == "braces" else []
        edits = []
        if not keywords:
            keywords = [one for one in statement.node.children if one.type == "type"]
            edits = [
                source.insert(one.node.start_byte, "type ")
                for one in statement.placed("braces")
                if one != own
            ]
        following = keywords[0].next_sibling if keywords else None
        if following is not None:
            return [source.delete(keywords[0].start_byte, following.start_byte), *edits]
    return None
