"""Has a file import from another module."""

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from codeplane.languages.javascript.operations._guards import generated_notes, refuse_unsafe
from codeplane.languages.operations import Arguments, Match, Outcome, Source, operation
from codeplane.languages.operations.codemods import (
    literal_errors,
    nodes_of,
    pair_arguments,
    replace_literals,
)

# `jest.mock` and `vi.mock` name the module that a test replaces.
_LOADING_CALLS: Final = frozenset(
    "require require.resolve import jest.mock jest.unmock jest.requireActual vi.mock vi.importActual".split()
)
_MOST_NAMED: Final = 8


@operation(
    version=1,
    target="file",
    arguments=pair_arguments(
        "the module as the file spells it: `./store`, `react`", "the module that takes its place"
    ),
    check_arguments=literal_errors,
)
def update_import_specifier(source: Source, _: Match, arguments: Arguments) -> Outcome:
    """Has every import, re-export, `require` and `import()` of a module in a file name another module."""
    refuse_unsafe(source)
    old, new = arguments.text("from"), arguments.text("to")
    literals = list(_module_texts(source))
    places = [(one.start_byte, one.end_byte) for one in literals if source.text(one) == old]
    modules = list(dict.fromkeys(source.text(one) for one in literals))
    names = ", ".join(f"`{name}`" for name in modules[:_MOST_NAMED]) or "nothing"
    missing = f"The file does not import `{old}`; it imports {names}."
    outcome = replace_literals(source, arguments, places, lambda: new in modules, missing)
    return outcome._replace(notes=generated_notes(source) if outcome.edits else ())


def _module_texts(source: Source) -> Iterator[Node]:
    """The texts of the literals that name modules."""
    for node in nodes_of(
        source.root, "import_statement", "import_require_clause", "export_statement", "call_expression"
    ):
        if node.type == "call_expression":
            function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
            is_loading = function is not None and source.text(function) in _LOADING_CALLS
            first = arguments.named_children[:1] if is_loading and arguments is not None else []
        else:
            literal = node.child_by_field_name("source")
            first = [literal] if literal is not None else []
        for literal in first:
            fragments = [child for child in literal.children if child.type == "string_fragment"]
            if literal.type == "string" and len(fragments) == 1:
                yield fragments[0]
