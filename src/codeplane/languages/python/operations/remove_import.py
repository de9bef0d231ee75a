"""Removes imports of a file."""

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from codeplane.core.edits import TextEdit
from codeplane.languages.operations import Argument, Arguments, Match, Outcome, Source, operation
from codeplane.languages.operations.changes import difference
from codeplane.languages.operations.lists import list_of
from codeplane.languages.python.import_blocks import IMPORTS, import_groups, read_names
from codeplane.languages.python.operations._guards import refuse_unsafe
from codeplane.languages.python.operations._import_uses import ImportPlace, refuse_needed
from codeplane.languages.python.operations._modules import is_same_module
from codeplane.languages.python.operations._requests import check_request, is_same_binding, read_request
from codeplane.languages.python.operations._statements import remove_statement
from codeplane.languages.rules.carrying import Wanted

_SCOPES = ("function_definition", "class_definition", "lambda")


@operation(
    version=2,
    target="file",
    arguments=(
        Argument(
            "import", "statement", "an import statement of what is to go, as source text", is_required=True
        ),
        Argument("force", "flag", "also where the file still uses it"),
    ),
    check_arguments=check_request,
)
def remove_import(source: Source, _: Match, arguments: Arguments) -> Outcome:
    """Removes imports of a module, with the comments that belong to them.

    Every statement outside of functions and classes that imports the same thing under the same name loses it;
    a suite that would be empty gets `pass`.
    """
    request = read_request(arguments)
    assert request is not None, "BUG: the arguments were not checked"
    refuse_unsafe(source)
    items = [one for one in request.names if _import_places(source, one)]
    if not arguments.flag("force"):
        for one in items:
            refuse_needed(source, _import_places(source, one))
    data, notes = source.data, []
    for one in items:
        data, own_notes = _without_import(Source(source.language, data, source.path), one)
        notes += own_notes
    notes += _inner_notes(source, request.names)
    if items and source.path.rpartition("/")[2] == "__init__.py":
        notes.append("Other files may import it from this package.")
    return Outcome(difference(source, data), notes)


def _import_places(source: Source, item: Wanted) -> list[ImportPlace]:
    """Where a module imports a thing, outside of functions and classes."""
    return [one for one in _all_places(source, item) if not _is_nested(one.statement)]


def _all_places(source: Source, item: Wanted) -> Iterator[ImportPlace]:
    waiting = [source.root]
    while waiting:
        node = waiting.pop()
        if node.type not in IMPORTS:
            waiting += reversed(node.named_children)
            continue
        module, names = read_names(source, node)
        if is_same_module(source.path, module, item.module):
            for position, name in enumerate(names):
                if is_same_binding(source, name.name, name.alias, item):
                    yield ImportPlace(node, position, name)


def _is_nested(statement: Node) -> bool:
    node = statement.parent
    while node is not None and node.type not in _SCOPES:
        node = node.parent
    return node is not None


def _inner_notes(source: Source, names: Sequence[Wanted]) -> list[str]:
    return [
        f"Line {source.line_of(place.statement.start_byte)} imports `{place.name.local}` for a function;"
        " that stays."
        for one in names
        for place in _all_places(source, one)
        if _is_nested(place.statement)
    ]


def _without_import(source: Source, item: Wanted) -> tuple[bytes, list[str]]:
    """The bytes of a file without a thing, one statement after the other, and what went with them."""
    notes: list[str] = []
    places = _import_places(source, item)
    while places:
        own = [one for one in places if one.statement == places[0].statement]
        outcome = _remove_names(source, own)
        source = Source(source.language, source.apply(outcome.edits), source.path)
        notes += outcome.notes
        places = _import_places(source, item)
    return source.data, notes


def _remove_names(source: Source, places: Sequence[ImportPlace]) -> Outcome:
    """The edits that take names out of one statement."""
    node = places[0].statement
    names = read_names(source, node)[1]
    if len(places) < len(names):
        nodes = {name.node.id for name in names}
        items = list_of(source, node, is_item=lambda child: child.id in nodes)
        return items.remove([place.position for place in places])
    siblings = node.parent.children if node.parent is not None else [node]
    groups = import_groups(source, siblings)
    starts = [one.start for group in groups for one in group if one.node == node]
    is_first = source.is_first_in_line(node.start_byte)
    start = starts[0] if starts and is_first else source.line_start(node.start_byte)
    edit = remove_statement(source, node, start)
    return Outcome([edit], _comment_notes(source, node, edit))


def _comment_notes(source: Source, node: Node, edit: TextEdit) -> list[str]:
    """What is said of each comment in the lines that go."""
    start, end = source.span_of(edit)
    siblings = node.parent.children if node.parent is not None else []
    return [
        f"The comment `{source.text(one).strip()}` belongs to `{source.text(node)}` and goes with it."
        for one in (*siblings, *node.children)
        if one.type == "comment" and start <= one.start_byte < end
    ]
