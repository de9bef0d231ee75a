"""Where a name is seen in PHP."""

from typing import Final

from codeplane.languages.rules.scoping import ScopeRules


class PHPScopes(ScopeRules):
    """The scopes of PHP."""

    # Functions, classes and constants of one name are three things; what `use` takes may be a namespace too.
    name_spaces = {
        "function": "f",
        "method": "f",
        "constructor": "f",
        "class": "t",
        "interface": "t",
        "trait": "t",
        "enum": "t",
        "namespace": "-",
        "php_use": "tn",
        "php_use_function": "f",
    }
    lookup_spaces = {"call": ("f",), "type": ("t",), "new": ("t",), "namespace": ("n",)}
    closed_names = r"\$.*"
    functions_escape = True
    self_keywords = ("$this",)
    class_keywords = ("self", "static")
    parent_receivers = ("parent",)
    imports_single_files = True
    namespace_separator = "\\"
    fallback_kinds = frozenset(("function", "constant"))


RULES: Final = PHPScopes()
