"""Where sites are in PHP."""

from codeplane.languages.sites.grammar import CallForm, SiteGrammar

SITES = SiteGrammar(
    calls={
        "function_call_expression": CallForm(function="function"),
        "member_call_expression": CallForm(receiver="object", name="name"),
        "nullsafe_member_call_expression": CallForm(receiver="object", name="name"),
        "scoped_call_expression": CallForm(receiver="scope", name="name"),
        "object_creation_expression": CallForm(function="#0", arguments="(arguments)"),
    },
    decorators={"attribute": CallForm(name="#0", arguments="parameters")},
    members={
        "member_access_expression": ("object", "name"),
        "class_constant_access_expression": ("#0", "#1"),
        "scoped_property_access_expression": ("scope", "name"),
    },
    subscripts={"subscript_expression": ("#0", "#1")},
    names=frozenset({"name", "variable_name", "qualified_name", "relative_scope"}),
    texts=frozenset({"string", "encapsed_string", "heredoc"}),
    text_parts=frozenset({"string_content", "escape_sequence"}),
    holes=frozenset({"variable_name"}),
    raw_quotes=True,
    lists=frozenset({"array_creation_expression"}),
    pairs={"array_element_initializer": ("#-2", "#-1")},
    keywords={"argument": ("name", "#-1")},
    wrappers=frozenset({"parenthesized_expression", "array_element_initializer", "base_clause"}),
    concats={"binary_expression": "."},
    functions=frozenset(
        {"anonymous_function", "arrow_function", "function_definition", "method_declaration"}
    ),
    constants=frozenset({"integer", "float", "boolean", "null"}),
    raises={"throw_expression": "#0"},
    catches={"catch_clause": ("type", "name")},
    classes={"class_declaration": ("name", ("(base_clause)", "(class_interface_clause)"))},
    loops={"foreach_statement": ("#1", "#0")},
    assignments={
        "assignment_expression": ("left", "right"),
        "property_element": ("name", "default_value"),
        "const_element": ("#0", "#1"),
    },
    returns=frozenset({"return_statement"}),
    conditions=frozenset({"if_statement", "try_statement", "switch_statement", "conditional_expression"}),
)
