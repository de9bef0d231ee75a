"""Go."""

from codeplane.languages.spec import EntryPoints, LanguageSpec
from codeplane.languages.style import GO, HeaderStyle

SPEC = LanguageSpec(
    name="go",
    family="go",
    entry_points=EntryPoints("main"),
    grammar="tree_sitter_go",
    standard=r"[a-z]\w*(?=/|\Z)",
    extensions=(".go",),
    call_by_parenthesis=True,
    private=r"[a-z_].*",
    constructor="",
    default_exports="capital",
    # A package is all files of a directory: what one defines is seen by the others as well, and what is
    # not capital cannot be named from elsewhere.
    surface="defined",
    writing=GO,
    header=HeaderStyle(order="go", typed=True, spellings=((r"\binterface\s*\{\s*\}", "any"),)),
    gaps="labels; fields of types without a name",
)
