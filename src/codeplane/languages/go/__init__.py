"""Go."""

from codeplane.languages.facts import ScopeKind
from codeplane.languages.spec import LanguageSpec
from codeplane.languages.style import GO, HeaderStyle

SPEC = LanguageSpec(
    name="go",
    family="go",
    silent_kinds=frozenset(("interface",)),
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
    nearest_base=True,
    static_types=True,
    reserved=r"init",
    called=(
        r"Error|String|GoString|Format|Is|As|Unwrap|Read|Write|Close|Seek|ReadFrom|WriteTo|ReadAt|WriteAt|Len|Less"
        r"|Swap|Push|Pop|ServeHTTP|RoundTrip|Scan|Value|Set|Lock|Unlock|Done|Err|(?:Unm|M)arshal\w+"
    ),
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
    whole_fields="""
        ((call_expression function: (selector_expression field: (field_identifier) @_asks)
          arguments: (argument_list (_) @holder))
         (#any-of? @_asks "Marshal" "MarshalIndent" "Unmarshal" "Encode" "Decode" "ValueOf" "TypeOf"))
    """,
    marks=r"^//(export|go:linkname)\b",
    mark="//",
    own_named_field=r"`[^`]*\w:\"\w",
    writing=GO,
    header=HeaderStyle(order="go", typed=True),
    gaps="labels; fields of types without a name",
)
