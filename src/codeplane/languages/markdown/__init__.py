"""Markdown."""

from codeplane.languages.spec import LanguageSpec

SPEC = LanguageSpec(
    name="markdown",
    family="markdown",
    grammar="tree_sitter_markdown",
    extensions=(".md", ".markdown", ".mdx"),
    name_marks="",
    most_definitions=10_000,
    gaps="Headings inside quotes and lists; links; 10,000 headings at most.",
)
