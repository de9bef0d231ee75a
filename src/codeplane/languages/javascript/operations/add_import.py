"""Imports something at the top of a file."""

from collections.abc import Sequence
from dataclasses import replace

from codeplane.core.edits import TextEdit
from codeplane.languages.javascript.operations._guards import generated_notes, refuse_unsafe
from codeplane.languages.javascript.operations._import_merging import merge_name, promote_name
from codeplane.languages.javascript.operations._import_places import joins_next, place_statement
from codeplane.languages.javascript.operations._import_style import statement_text, style_of, styled_text
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
    refuse_other_form,
)
from codeplane.languages.operations import (
    Argument,
    Arguments,
    Match,
    OperationRefused,
    Outcome,
    Source,
    operation,
)
from codeplane.languages.operations.bindings import facts_of
from codeplane.languages.operations.changes import difference, with_newlines


@operation(
    version=2,
    target="file",
    arguments=(
        Argument(
            "import",
            "statement",
            "the import statement, or `const … = require(…)`, as source text",
            is_required=True,
        ),
    ),
    check_arguments=check_request,
)
def add_import(source: Source, _: Match, arguments: Arguments) -> Outcome:
    """Imports something at the top of a file.

    The names go into a statement that takes from the same module, else the statement goes where the order of
    the file's imports puts it, with the quotes and semicolons of the file.
    """
    parts = read_request(arguments)
    assert parts is not None, "BUG: the arguments were not checked"
    fragment, request = parts
    refuse_unsafe(source)
    _refuse_errors(source)
    statements = [one for one in import_statements(source) if is_same_module(one, request)]
    if request.is_effect or not request.names:
        if any(one.is_effect or not one.is_type for one in statements):
            return Outcome()
        refuse_other_form(source, request)
        return Outcome([_place_whole(source, fragment, request)], generated_notes(source))
    missing = [name for name in request.names if not _has_name(statements, name)]
    if not missing:
        return Outcome()
    refuse_other_form(source, request)
    data, rest = source.data, []
    for name in missing:
        current = Source(source.language, data, source.path)
        edits = promote_name(current, request, name)
        if edits is None:
            _refuse_conflict(source, name)
            edits = merge_name(current, request, name)
        if edits is None:
            rest.append(name)
        else:
            data = current.apply(edits)
    current = Source(source.language, data, source.path)
    if len(rest) == len(request.names):
        data = current.apply([_place_whole(current, fragment, request)])
    elif rest:
        data = current.apply([_place_rest(current, request, rest)])
    return Outcome(difference(source, data), generated_notes(source))


def _has_name(statements: Sequence[ImportStatement], name: ImportedName) -> bool:
    """Whether a name is bound to the same thing; a value can be used as a type."""
    return any(
        is_same_name(one, name) and (name.is_type or not one.is_type)
        for statement in statements
        for one in statement.names
    )


def _refuse_errors(source: Source) -> None:
    """Refuses a file that has a syntax error among its first statements."""
    last = max((one.node.end_byte for one in import_statements(source)), default=0)
    for node in source.root.children:
        if node.has_error and (node.start_byte <= last or node == source.root.children[0]):
            line = source.line_of(node.start_byte)
            raise OperationRefused(
                f"The file holds a syntax error at line {line}, or syntax that the grammar does not know.",
                node,
            )


def _refuse_conflict(source: Source, name: ImportedName) -> None:
    """Refuses an import whose name the module binds to something else."""
    for bind in facts_of(source).binds:
        if bind.scope == 0 and bind.name == name.local:
            raise OperationRefused(
                f"`{name.local}` is bound to something else at line {bind.line};"
                " import it under another name."
            )


def _place_whole(source: Source, fragment: Source, request: ImportStatement) -> TextEdit:
    text = styled_text(style_of(source), fragment, request)
    return _placed(source, request, with_newlines(source, 0, text))


def _place_rest(source: Source, request: ImportStatement, names: Sequence[ImportedName]) -> TextEdit:
    keyword = request.node.children[0].type if request.form == "require" else "import"
    text = statement_text(style_of(source), request, names, keyword)
    return _placed(source, replace(request, names=tuple(names)), text)


def _placed(source: Source, request: ImportStatement, text: str) -> TextEdit:
    edit = place_statement(source, text, request)
    if request.form == "import" or text.endswith(";"):
        return edit
    # `const a = require("a")` goes on where the next line begins with a bracket.
    if joins_next(source, source.span_of(edit)[1]):
        return edit._replace(new=edit.new.replace(text, f"{text};"))
    return edit
