"""Removes imports of a file."""

from collections.abc import Sequence

from codeplane.languages.javascript.operations._guards import generated_notes, refuse_unsafe
from codeplane.languages.javascript.operations._import_uses import refuse_needed
from codeplane.languages.javascript.operations._imports import (
    ImportedName,
    ImportStatement,
    import_statements,
)
from codeplane.languages.javascript.operations._requests import (
    check_request,
    is_same_module,
    is_same_name,
    read_request,
)
from codeplane.languages.javascript.operations._statements import remove_statement
from codeplane.languages.operations import Argument, Arguments, Match, Outcome, Source, operation
from codeplane.languages.operations.changes import difference
from codeplane.languages.operations.lists import list_of


@operation(
    version=2,
    target="file",
    arguments=(
        Argument(
            "import",
            "statement",
            "an import statement of what is to go, or `const … = require(…)`, as source text",
            is_required=True,
        ),
        Argument("keep_effects", "flag", "the module is still loaded where none of its names is left"),
        Argument("force", "flag", "also where the file still uses it"),
    ),
    check_arguments=check_request,
)
def remove_import(source: Source, _: Match, arguments: Arguments) -> Outcome:
    """Removes imports of a module, with the comments that belong to them.

    Every statement that imports the same thing under the same name loses it; one that has none left goes.
    """
    parts = read_request(arguments)
    assert parts is not None, "BUG: the arguments were not checked"
    request = parts[1]
    refuse_unsafe(source)
    statements = _statements_of(source, request)
    if not arguments.flag("force"):
        for statement in statements:
            for number in _positions(statement, request):
                refuse_needed(source, statement, statement.names[number])
    current, notes = source, generated_notes(source) if statements else []
    while statements:
        outcome = _remove_names(current, statements[0], request, keeps=arguments.flag("keep_effects"))
        current = Source(source.language, current.apply(outcome.edits), source.path)
        notes += outcome.notes
        statements = _statements_of(current, request)
    if _loads(source, request.module) and not _loads(current, request.module):
        notes.append(f"The file does not load `{request.module}` any more.")
    return Outcome(difference(source, current.data), notes)


def _loads(source: Source, module: str) -> bool:
    """Whether a file loads a module when it runs."""
    for one in import_statements(source):
        is_value = one.is_effect or not all(name.is_type for name in one.names)
        if one.module == module and not one.is_type and is_value:
            return True
    literals = [
        node.child_by_field_name("source") for node in source.root.children if node.type == "export_statement"
    ]
    return any(literal is not None and source.text(literal)[1:-1] == module for literal in literals)


def _statements_of(source: Source, request: ImportStatement) -> list[ImportStatement]:
    """The statements that import some of what is asked for; of nothing, those that only load the module."""
    return [
        one
        for one in import_statements(source)
        if is_same_module(one, request)
        and (_positions(one, request) or (not request.names and one.is_effect and not one.names))
    ]


def _positions(statement: ImportStatement, request: ImportStatement) -> list[int]:
    return [
        number
        for number, name in enumerate(statement.names)
        if any(_is_meant(name, other) for other in request.names)
    ]


def _is_meant(name: ImportedName, other: ImportedName) -> bool:
    """Whether an import is what is asked for; a type that is asked for is no value."""
    return is_same_name(name, other) and (name.is_type or not other.is_type)


def _remove_names(
    source: Source, statement: ImportStatement, request: ImportStatement, *, keeps: bool
) -> Outcome:
    """The edits that take names out of one statement."""
    gone = _positions(statement, request)
    remaining = [name for number, name in enumerate(statement.names) if number not in gone]
    if not remaining:
        return _remove_whole(source, statement, keeps=keeps)
    places = {name.place for name in remaining}
    edits, notes = [], []
    first = [name for name in statement.names if name.place != "braces"]
    braces = statement.braces
    if braces is not None and "braces" in places:
        items = [number for number, name in enumerate(statement.placed("braces")) if name not in remaining]
        outcome = list_of(source, braces).remove(items)
        edits, notes = list(outcome.edits), list(outcome.notes)
    clause: Sequence[tuple[int, int, bool]] = [
        *((name.node.start_byte, name.node.end_byte, name in remaining) for name in first),
        *([(braces.start_byte, braces.end_byte, "braces" in places)] if braces is not None else []),
    ]
    for number, (start, end, stays) in enumerate(clause):
        if not stays and number + 1 < len(clause):
            comma = _comma_between(statement, end, clause[number + 1][0])
            edits.append(source.delete(start, _blank_end(source, comma + 1)))
        elif not stays:
            comma = _comma_between(statement, clause[number - 1][1], start)
            edits.append(source.delete(_blank_start(source, comma), end))
    return Outcome(edits, notes)


def _comma_between(statement: ImportStatement, start: int, end: int) -> int:
    """The comma between a default and what follows it; comments before it are of the default."""
    waiting = [statement.node]
    while waiting:
        node = waiting.pop()
        if node.type == "," and start <= node.start_byte < end:
            return node.start_byte
        waiting += [child for child in node.children if child.start_byte < end and child.end_byte > start]
    raise AssertionError("BUG: no comma between two parts of an import")


def _blank_start(source: Source, offset: int) -> int:
    return len(source.data[:offset].rstrip())


def _blank_end(source: Source, offset: int) -> int:
    rest = source.data[offset:]
    return offset + len(rest) - len(rest.lstrip())


def _remove_whole(source: Source, statement: ImportStatement, *, keeps: bool) -> Outcome:
    """The edits for a statement that has no names left."""
    node, declarator = statement.node, statement.declarator
    if keeps and not statement.is_type and not statement.is_effect and statement.form == "import":
        literal = node.child_by_field_name("source")
        assert literal is not None, "BUG: an import without a module"
        keyword = node.children[0]
        return Outcome([source.replace(keyword.end_byte, literal.start_byte, " ")])
    declarators = [one for one in node.named_children if one.type == "variable_declarator"]
    value = declarator.child_by_field_name("value") if declarator is not None else None
    if keeps and value is not None and value.type == "call_expression" and len(declarators) == 1:
        return Outcome([source.delete(node.start_byte, value.start_byte)])
    if declarator is not None and len(declarators) > 1:
        ids = {one.id for one in declarators}
        items = list_of(source, node, is_item=lambda child: child.id in ids)
        return items.remove([declarators.index(declarator)])
    is_first = next((one for one in source.root.children if one.type != "comment"), None) == node
    return remove_statement(source, node, is_first=is_first)
