"""Haskell."""

from codeplane.languages.spec import LanguageSpec

SPEC = LanguageSpec(
    name="haskell",
    family="haskell",
    main="main",
    grammar="tree_sitter_haskell",
    extensions=(".hs", ".hs-boot"),
    resolves=False,
    gaps="Names are not bound. Definitions inside functions, and what `hiding` takes away.",
)
