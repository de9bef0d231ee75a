"""Rust."""

from codeplane.languages.facts import ScopeKind
from codeplane.languages.spec import LanguageSpec
from codeplane.languages.style import RUST, HeaderStyle

SPEC = LanguageSpec(
    name="rust",
    family="rust",
    main="main",
    grammar="tree_sitter_rust",
    standard=r"(?:std|core|alloc)(?=:|\Z)",
    extensions=(".rs",),
    sequential=frozenset((ScopeKind.FUNCTION, ScopeKind.BLOCK)),
    islands=frozenset((ScopeKind.NAMESPACE, ScopeKind.FUNCTION)),
    blank="_",
    # A structure may be made like a value: `struct Point(i32)`.
    spaces={
        "struct": "tv",
        "enum": "t",
        "enum_member": "tv",
        "trait": "t",
        "type": "t",
        "module": "t",
        "type_param": "t",
        "rust_use": "tv",
        "rust_extern_crate": "t",
    },
    looks={"type": ("t",)},
    apart={"macro": frozenset()},
    call_by_parenthesis=True,
    class_kinds={"function": "method"},
    constructor="",
    # Private items are seen by the modules below: what compiles may name everything that is bound.
    surface="bound",
    self_keywords=("self",),
    class_keywords=("Self",),
    module_keywords=("crate", "self", "super"),
    members_apart=True,
    keywords=(
        (
            "(struct_expression name: (_) @holder body: (field_initializer_list"
            " (field_initializer field: (field_identifier) @keyword)))"
        ),
        (
            "(struct_expression name: (_) @holder body: (field_initializer_list"
            " (shorthand_field_initializer (identifier) @keyword)))"
        ),
        "(struct_pattern type: (_) @holder (field_pattern name: (_) @keyword))",
        "(token_tree (identifier) @macro)",
    ),
    shorthands={
        "(shorthand_field_initializer (identifier) @name)": "{key}: {value}",
        "(field_pattern name: (shorthand_field_identifier) @name)": "{key}: {value}",
        '(field_pattern ["ref" (mutable_specifier)] @modifier name: (shorthand_field_identifier) @name)': (
            "{key}: {value}"
        ),
    },
    writing=RUST,
    header=HeaderStyle(typed=True, unsaid="private", angles=True, quotes='"', words=frozenset(("mut",))),
    gaps="names inside macros and names that macros define",
)
