"""Haskell."""

from codeplane.languages.spec import EntryPoints, LanguageSpec

SPEC = LanguageSpec(
    name="haskell",
    family="haskell",
    entry_points=EntryPoints("main"),
    grammar="tree_sitter_haskell",
    extensions=(".hs", ".hs-boot"),
    gaps="Names are not bound. Definitions inside functions, and what `hiding` takes away.",
)
