"""Where sites are in C++."""

from codeplane.languages.sites.grammar import CallForm, SiteGrammar

SITES = SiteGrammar(
    calls={"call_expression": CallForm(function="function"), "new_expression": CallForm(function="type")},
    members={"field_expression": ("argument", "field"), "qualified_identifier": ("scope", "name")},
    names=frozenset({"identifier", "field_identifier", "type_identifier", "namespace_identifier", "this"}),
    texts=frozenset({"string_literal", "raw_string_literal", "concatenated_string"}),
    text_parts=frozenset({"string_content", "raw_string_content", "escape_sequence"}),
    wrappers=frozenset({"parenthesized_expression"}),
    firsts=frozenset({"template_function", "template_type"}),
    concats={"binary_expression": "+"},
    functions=frozenset({"lambda_expression", "function_definition"}),
    constants=frozenset({"number_literal", "true", "false", "null"}),
    raises={"throw_statement": "#0"},
    catches={
        "catch_clause": (
            "parameters/(parameter_declaration)/type",
            "parameters/(parameter_declaration)/declarator",
        )
    },
    classes={
        "class_specifier": ("name", ("(base_class_clause)",)),
        "struct_specifier": ("name", ("(base_class_clause)",)),
    },
    loops={"for_range_loop": ("declarator", "right")},
    assignments={"init_declarator": ("declarator", "value"), "assignment_expression": ("left", "right")},
    returns=frozenset({"return_statement"}),
    conditions=frozenset({"if_statement", "switch_statement", "try_statement", "conditional_expression"}),
)
