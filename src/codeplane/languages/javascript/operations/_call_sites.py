"""How calls of JavaScript and TypeScript are written."""

from typing import Final

from codeplane.languages.operations.call_sites import CallGrammar

GRAMMAR: Final = CallGrammar(
    calls=frozenset((("call_expression", "function"), ("new_expression", "constructor"))),
    arguments=frozenset(("arguments",)),
    paths=frozenset((("member_expression", "property"),)),
    splats=frozenset(("spread_element",)),
    effects=frozenset(
        "call_expression new_expression await_expression yield_expression assignment_expression"
        " augmented_assignment_expression update_expression".split()
    ),
    names=frozenset(("identifier", "shorthand_property_identifier")),
    callers=frozenset(("call", "apply", "bind")),
    is_lenient=True,
    base_constructor="super",
    module_value=r"\bmodule\s*\.\s*exports\s*=\s*",
    own_class=r"\bnew\s+this\b|\bthis\.constructor\b|\bnew\s+new\.target\b",
)
