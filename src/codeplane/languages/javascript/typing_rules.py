"""What JavaScript says about types."""

from typing import Final

from codeplane.languages.rules.typing_rules import TypeRules


class JavaScriptTypes(TypeRules):
    """The types of JavaScript."""

    fields_made_in = "constructor"
    unreachable_members = frozenset(("constructor",))


RULES: Final = JavaScriptTypes()
