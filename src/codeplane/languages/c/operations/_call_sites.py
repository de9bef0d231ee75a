"""How calls of C are written."""

from typing import Final

from codeplane.languages.operations.call_sites import CallGrammar

GRAMMAR: Final = CallGrammar(
    calls=frozenset((("call_expression", "function"),)),
    arguments=frozenset(("argument_list",)),
    effects=frozenset("call_expression assignment_expression update_expression".split()),
)
