"""YAML."""

from codeplane.languages.spec import LanguageSpec

SPEC = LanguageSpec(
    name="yaml",
    family="json_yaml",
    grammar="tree_sitter_yaml",
    extensions=(".yaml", ".yml"),
    name_marks="\"'",
    query_depth=1,
    most_definitions=10_000,
    gaps="Keys of the three outermost levels of each document, none inside lists or braces, 10,000 at most.",
)
