"""Where sites are in C and C++."""

from codeplane.languages.sites.grammar import CallForm, SiteGrammar

SITES = SiteGrammar(
    calls={"call_expression": CallForm(function="function")},
    members={"field_expression": ("argument", "field")},
    names=frozenset({"identifier", "field_identifier", "type_identifier"}),
    texts=frozenset({"string_literal", "concatenated_string"}),
    text_parts=frozenset({"string_content", "escape_sequence"}),
    wrappers=frozenset({"parenthesized_expression"}),
    functions=frozenset({"function_definition"}),
    constants=frozenset({"number_literal", "true", "false", "null"}),
    assignments={"init_declarator": ("declarator", "value"), "assignment_expression": ("left", "right")},
    returns=frozenset({"return_statement"}),
    conditions=frozenset({"if_statement", "switch_statement", "conditional_expression"}),
)
