"""HTML: elements that have an id."""

from codeplane.languages.spec import LanguageSpec

SPEC = LanguageSpec(
    name="html",
    family="html",
    grammar="tree_sitter_html",
    extensions=(".html", ".htm", ".xhtml"),
    name_marks="",
    most_definitions=10_000,
    gaps="Everything but elements with an id, 10,000 at most; scripts and styles are not read.",
)
