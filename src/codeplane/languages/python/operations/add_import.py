"""Imports something at the top of a file."""

from collections.abc import Sequence

from codeplane.languages.operations import Argument, Arguments, Match, Outcome, Source, operation
from codeplane.languages.operations.changes import difference, with_newlines
from codeplane.languages.python.import_blocks import (
    ImportStatement,
    head_nodes,
    import_groups,
)
from codeplane.languages.python.operations._guards import refuse_errors_among, refuse_unsafe
from codeplane.languages.python.operations._modules import is_own_package
from codeplane.languages.python.operations._requests import (
    Request,
    check_request,
    missing_names,
    read_request,
    refuse_conflict,
)
from codeplane.languages.python.operations._type_checking import place_for_types, type_checking_block
from codeplane.languages.python.placement import (
    IsOurs,
    groups_for,
    merge_target,
    place_name,
    place_statement,
)
from codeplane.languages.rules.carrying import Wanted


@operation(
    version=2,
    target="file",
    arguments=(
        Argument("import", "statement", "the import statement, as source text", is_required=True),
        Argument("type_checking", "flag", "for types alone: goes under `if TYPE_CHECKING:`"),
    ),
    check_arguments=check_request,
)
def add_import(source: Source, _: Match, arguments: Arguments) -> Outcome:
    """Imports something at the top of a file.

    The names go into a statement that takes from the same module, else the statement goes where the order of
    the file's imports puts it.
    """
    request = read_request(arguments)
    assert request is not None, "BUG: the arguments were not checked"
    refuse_unsafe(source, request.text)
    nodes = head_nodes(source, is_set_up=True)
    refuse_errors_among(source, nodes)
    statements = [one for group in import_groups(source, nodes) for one in group]
    for_types = arguments.flag("type_checking")
    block = type_checking_block(source) if for_types else None
    if block is not None:
        statements += [one for group in import_groups(source, block.children) for one in group]
    names, notes = missing_names(source, statements, request)
    if not names:
        return Outcome((), notes)
    for item in names:
        refuse_conflict(source, item)
    after = (
        place_for_types(source, request.text, names, _is_ours(source))
        if for_types
        else _placed_data(source, statements, request, names)
    )
    return Outcome(difference(source, after), notes)


def _is_ours(source: Source) -> IsOurs:
    return lambda module: is_own_package(source, module)


def _placed_data(
    source: Source, statements: Sequence[ImportStatement], request: Request, names: Sequence[Wanted]
) -> bytes:
    """The bytes of the file with the names: the statement as it was written, where none takes its names."""
    is_ours = _is_ours(source)
    is_whole = len(names) == len(request.names)
    if is_whole and all(merge_target(statements, name) is None for name in names):
        text = with_newlines(source, 0, request.text)
        groups = groups_for(source, names[0], is_ours)
        return source.apply(place_statement(source, groups, text, names[0], is_ours))
    data = source.data
    for item in names:
        current = Source(source.language, data, source.path, source.has_file)
        data = _with_alias(current, item) or current.apply(place_name(current, item, is_ours))
    return data


def _with_alias(source: Source, item: Wanted) -> bytes | None:
    """The bytes of a stub in which `a` of a statement becomes `a as a`, so that it is exported."""
    if not source.path.endswith(".pyi") or item.alias != item.name:
        return None
    for group in import_groups(source, head_nodes(source)):
        for one in group:
            for name in one.names:
                if (one.module, name.name, name.alias) == (item.module, item.name, ""):
                    text = f"{item.name} as {item.alias}"
                    return source.apply([source.replace(name.node.start_byte, name.node.end_byte, text)])
    return None
