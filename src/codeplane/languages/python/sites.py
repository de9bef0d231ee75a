"""Where sites are in Python."""

from codeplane.languages.sites.grammar import CallForm, SiteGrammar

SITES = SiteGrammar(
    calls={"call": CallForm(function="function")},
    decorators={"decorator": CallForm()},
    members={"attribute": ("object", "attribute")},
    subscripts={"subscript": ("value", "subscript")},
    memberships={"comparison_operator": frozenset({"in", "not in"})},
    tested_owners=frozenset({"environ"}),
    names=frozenset({"identifier"}),
    texts=frozenset({"string", "concatenated_string"}),
    text_parts=frozenset({"string_content"}),
    holes=frozenset({"interpolation"}),
    brace_escapes=frozenset({"escape_interpolation"}),
    lists=frozenset({"list", "tuple", "set"}),
    mappings=frozenset({"dictionary"}),
    pairs={"pair": ("key", "value")},
    keywords={"keyword_argument": ("name", "value")},
    wrappers=frozenset({"parenthesized_expression", "await", "list_splat"}),
    concats={"binary_operator": "+"},
    functions=frozenset({"lambda", "function_definition"}),
    constants=frozenset({"integer", "float", "true", "false", "none"}),
    raises={"raise_statement": "#0"},
    catches={"except_clause": ("value", "value/alias"), "except_group_clause": ("value", "value/alias")},
    classes={"class_definition": ("name", ("superclasses",))},
    loops={"for_statement": ("left", "right"), "for_in_clause": ("left", "right")},
    comprehensions=frozenset(
        {"list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression"}
    ),
    assignments={
        "assignment": ("left", "right"),
        "augmented_assignment": ("left", "right"),
        "named_expression": ("name", "value"),
    },
    returns=frozenset({"return_statement"}),
    conditions=frozenset({"if_statement", "try_statement", "match_statement", "conditional_expression"}),
)
