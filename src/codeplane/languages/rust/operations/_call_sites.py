"""How calls of Rust are written."""

from typing import Final

from tree_sitter import Node

from codeplane.languages.operations.call_sites import CallGrammar
from codeplane.languages.operations.source import Source


def has_receiver(source: Source, definition: Node) -> bool | None:
    """Whether a function takes `self`, in any of its forms."""
    parameters = definition.child_by_field_name("parameters")
    if parameters is None:
        return None
    for child in parameters.named_children:
        if child.type == "self_parameter":
            return True
        if child.type == "parameter":
            pattern = child.child_by_field_name("pattern")
            return pattern is not None and source.text(pattern).removeprefix("mut ").strip() == "self"
    return False


GRAMMAR: Final = CallGrammar(
    calls=frozenset((("call_expression", "function"),)),
    arguments=frozenset(("arguments",)),
    paths=frozenset(
        (("field_expression", "field"), ("scoped_identifier", "name"), ("generic_function", "function"))
    ),
    bound_paths=frozenset(("field_expression",)),
    effects=frozenset(
        "call_expression macro_invocation await_expression try_expression assignment_expression"
        " compound_assignment_expr".split()
    ),
    has_receiver=has_receiver,
    receiver_names=frozenset(("self",)),
)
