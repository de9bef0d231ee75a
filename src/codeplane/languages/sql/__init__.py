"""SQL."""

from codeplane.languages.spec import LanguageSpec

SPEC = LanguageSpec(
    name="sql",
    family="sql",
    grammar="tree_sitter_sql",
    extensions=(".sql", ".ddl", ".psql"),
    name_marks='"`',
    most_definitions=10_000,
    gaps="Statements that only one dialect has; procedures; what the bodies of functions define; references; "
    "10,000 definitions at most.",
)
