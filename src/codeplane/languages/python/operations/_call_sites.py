"""How calls of Python are written."""

from typing import Final

from tree_sitter import Node

from codeplane.languages.operations.call_sites import CallGrammar
from codeplane.languages.operations.source import Source
from codeplane.languages.python.operations._signatures import is_method, parameters_of
from codeplane.languages.python.scoping import RULES


def has_receiver(source: Source, definition: Node) -> bool | None:
    """Whether a function has `self` or `cls` first; None where headers and classes disagree about it."""
    if definition.type != "function_definition":
        return None
    _, parameters = parameters_of(source, definition)
    first = parameters[0] if parameters else None
    name = source.text(first.name) if first is not None and first.name is not None else ""
    is_named = name in RULES.self_parameters and not (first and first.mark)
    return is_named if is_named == is_method(source, definition) else None


GRAMMAR: Final = CallGrammar(
    calls=frozenset((("call", "function"),)),
    arguments=frozenset(("argument_list",)),
    paths=frozenset((("attribute", "attribute"),)),
    keyword="keyword_argument",
    splats=frozenset(("list_splat", "dictionary_splat")),
    lone=frozenset(("generator_expression",)),
    effects=frozenset(("call", "await", "yield", "named_expression")),
    callers=frozenset(("__call__", "__get__", "__wrapped__", "__func__")),
    has_receiver=has_receiver,
    explicit_receivers=frozenset(("__new__",)),
    class_methods=r"\bclassmethod\b",
    class_values=r"cls|.*__class__|type\(.*",
    own_class=r"\btype\(\s*\w+\s*\)\s*\(|\.__class__\s*\(|\bcls\s*\(",
)
