"""Rust."""

from codeplane.languages.spec import EntryPoints, LanguageSpec
from codeplane.languages.style import RUST, HeaderStyle

SPEC = LanguageSpec(
    name="rust",
    family="rust",
    entry_points=EntryPoints("main"),
    grammar="tree_sitter_rust",
    standard=r"(?:std|core|alloc)(?=:|\Z)",
    extensions=(".rs",),
    call_by_parenthesis=True,
    class_kinds={"function": "method"},
    constructor="",
    # Private items are seen by the modules below: what compiles may name everything that is bound.
    surface="bound",
    writing=RUST,
    header=HeaderStyle(typed=True, unsaid="private", angles=True, quotes='"', words=frozenset(("mut",))),
    gaps="names inside macros and names that macros define",
)
