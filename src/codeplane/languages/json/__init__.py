"""JSON, with comments where they are."""

from codeplane.languages.spec import LanguageSpec

SPEC = LanguageSpec(
    name="json",
    family="json_yaml",
    grammar="tree_sitter_json",
    extensions=(".json", ".jsonc", ".json5", ".webmanifest"),
    filenames=(".babelrc", ".eslintrc", ".prettierrc"),
    name_marks='"',
    query_depth=0,
    most_definitions=10_000,
    gaps="Keys of the three outermost levels, none inside lists, 10,000 at most.",
)
