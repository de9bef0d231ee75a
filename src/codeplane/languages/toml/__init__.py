"""TOML."""

from codeplane.languages.spec import LanguageSpec

SPEC = LanguageSpec(
    name="toml",
    family="json_yaml",
    grammar="tree_sitter_toml",
    extensions=(".toml",),
    filenames=("Cargo.lock", "Pipfile", "poetry.lock", "uv.lock"),
    name_marks="\"'",
    query_depth=1,
    most_definitions=10_000,
    gaps="Keys inside braces and lists; 10,000 definitions at most.",
)
