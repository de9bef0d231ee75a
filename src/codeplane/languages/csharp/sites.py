"""Where sites are in C#."""

from codeplane.languages.sites.grammar import CallForm, SiteGrammar

SITES = SiteGrammar(
    calls={
        "invocation_expression": CallForm(function="function"),
        "object_creation_expression": CallForm(function="type"),
    },
    decorators={"attribute": CallForm(name="name", arguments="(attribute_argument_list)")},
    members={
        "member_access_expression": ("expression", "name"),
        "conditional_access_expression": ("condition", "#-1"),
        "qualified_name": ("qualifier", "name"),
    },
    subscripts={"element_access_expression": ("expression", "subscript")},
    names=frozenset({"identifier", "this", "base", "predefined_type"}),
    texts=frozenset(
        {"string_literal", "verbatim_string_literal", "raw_string_literal", "interpolated_string_expression"}
    ),
    text_parts=frozenset(
        {"string_literal_content", "raw_string_content", "string_content", "escape_sequence"}
    ),
    holes=frozenset({"interpolation"}),
    raw_quotes=True,
    lists=frozenset({"initializer_expression", "collection_expression", "base_list"}),
    keywords={"argument": ("name", "#-1"), "attribute_argument": ("name", "#-1")},
    wrappers=frozenset(
        {
            "parenthesized_expression",
            "cast_expression",
            "await_expression",
            "equals_value_clause",
            "array_creation_expression",
            "implicit_array_creation_expression",
        }
    ),
    firsts=frozenset({"generic_name", "nullable_type", "typeof_expression", "postfix_unary_expression"}),
    type_arguments=frozenset({"type_argument_list"}),
    concats={"binary_expression": "+"},
    functions=frozenset(
        {
            "lambda_expression",
            "anonymous_method_expression",
            "method_declaration",
            "local_function_statement",
            "constructor_declaration",
        }
    ),
    constants=frozenset({"integer_literal", "real_literal", "boolean_literal", "null_literal"}),
    raises={"throw_statement": "#0", "throw_expression": "#0"},
    catches={"catch_clause": ("(catch_declaration)/type", "(catch_declaration)/name")},
    classes={
        "class_declaration": ("name", ("(base_list)",)),
        "record_declaration": ("name", ("(base_list)",)),
        "interface_declaration": ("name", ("(base_list)",)),
    },
    loops={"foreach_statement": ("left", "right")},
    assignments={"variable_declarator": ("name", "#1"), "assignment_expression": ("left", "right")},
    returns=frozenset({"return_statement", "arrow_expression_clause"}),
    conditions=frozenset({"if_statement", "try_statement", "switch_statement", "conditional_expression"}),
)
