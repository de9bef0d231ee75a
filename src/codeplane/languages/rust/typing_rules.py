"""What Rust says about types."""

from typing import Final

from codeplane.languages.rules.typing_rules import TypeRules


class RustTypes(TypeRules):
    """The types of Rust."""

    static_types = True
    nearest_base = True


RULES: Final = RustTypes()
