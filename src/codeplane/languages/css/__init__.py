"""CSS."""

from codeplane.languages.spec import LanguageSpec

SPEC = LanguageSpec(
    name="css",
    family="css",
    grammar="tree_sitter_css",
    extensions=(".css",),
    name_marks="",
    most_definitions=10_000,
    gaps="Selectors by the classes and ids in them, 10,000 definitions at most.",
)
