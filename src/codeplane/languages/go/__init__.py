"""Go."""

from codeplane.languages.facts import ScopeKind
from codeplane.languages.spec import LanguageSpec
from codeplane.languages.style import GO, HeaderStyle

SPEC = LanguageSpec(
    name="go",
    family="go",
    main="main",
    grammar="tree_sitter_go",
    standard=r"[a-z]\w*(?=/|\Z)",
    extensions=(".go",),
    sequential=frozenset((ScopeKind.FUNCTION, ScopeKind.BLOCK)),
    redeclares=True,
    blank="_",
    call_by_parenthesis=True,
    private=r"[a-z_].*",
    constructor="",
    default_exports="capital",
    # A package is all files of a directory: what one defines is seen by the others as well, and what is
    # not capital cannot be named from elsewhere.
    surface="defined",
    embeds=True,
    keywords=(
        (
            "(composite_literal type: (_) @holder body: (literal_value (keyed_element"
            " key: (literal_element (identifier) @keyword))))"
        ),
        (
            "(composite_literal type: (_) @holder body: (literal_value (literal_element (literal_value"
            " (keyed_element key: (literal_element (identifier) @keyword))))))"
        ),
        (
            "(composite_literal type: (_) @holder body: (literal_value (keyed_element value: (literal_element"
            " (literal_value (keyed_element key: (literal_element (identifier) @keyword)))))))"
        ),
    ),
    writing=GO,
    header=HeaderStyle(order="go", typed=True),
    gaps="labels; fields of types without a name",
)
