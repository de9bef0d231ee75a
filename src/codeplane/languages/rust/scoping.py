"""Where a name is seen in Rust."""

from typing import Final

from codeplane.languages.facts import ScopeKind
from codeplane.languages.rules.scoping import ScopeRules


class RustScopes(ScopeRules):
    """The scopes of Rust."""

    blank_name = "_"
    sequential_scopes = frozenset((ScopeKind.FUNCTION, ScopeKind.BLOCK))
    # A structure may be made like a value: `struct Point(i32)`.
    name_spaces = {
        "struct": "tv",
        "enum": "t",
        "enum_member": "tv",
        "trait": "t",
        "type": "t",
        "module": "t",
        "type_param": "t",
        "rust_use": "tv",
        "rust_extern_crate": "t",
    }
    lookup_spaces = {"type": ("t",)}
    marked_spaces = {"macro": frozenset()}
    opaque_scopes = frozenset((ScopeKind.NAMESPACE, ScopeKind.FUNCTION))
    self_keywords = ("self",)
    class_keywords = ("Self",)
    methods_apart = True
    module_keywords = ("crate", "self", "super")


RULES: Final = RustScopes()
