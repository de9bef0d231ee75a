"""Where sites are in Go."""

from codeplane.languages.sites.grammar import CallForm, SiteGrammar

SITES = SiteGrammar(
    calls={"call_expression": CallForm(function="function")},
    literals={"composite_literal": CallForm(function="type", arguments="body")},
    keywords={"keyed_element": ("#0", "#1")},
    members={"selector_expression": ("operand", "field"), "qualified_type": ("package", "name")},
    subscripts={"index_expression": ("operand", "index")},
    names=frozenset({"identifier", "type_identifier", "field_identifier", "package_identifier"}),
    texts=frozenset({"interpreted_string_literal", "raw_string_literal"}),
    text_parts=frozenset(
        {"interpreted_string_literal_content", "raw_string_literal_content", "escape_sequence"}
    ),
    raw_quotes=True,
    singles=frozenset({"expression_list"}),
    lists=frozenset({"literal_value", "expression_list"}),
    wrappers=frozenset(
        {"parenthesized_expression", "composite_literal", "literal_element", "unary_expression"}
    ),
    firsts=frozenset({"generic_type", "type_instantiation_expression"}),
    concats={"binary_expression": "+"},
    functions=frozenset({"func_literal", "function_declaration", "method_declaration"}),
    constants=frozenset({"int_literal", "float_literal", "true", "false", "nil"}),
    raising='((call_expression function: (identifier) @_name) @raise (#eq? @_name "panic"))',
    classes={"type_spec": ("name", ("type",))},
    loops={"for_statement": ("(range_clause)/left", "(range_clause)/right")},
    assignments={
        "short_var_declaration": ("left", "right"),
        "assignment_statement": ("left", "right"),
        "var_spec": ("name", "value"),
        "const_spec": ("name", "value"),
    },
    first_results=True,
    returns=frozenset({"return_statement"}),
    conditions=frozenset(
        {"if_statement", "expression_switch_statement", "type_switch_statement", "select_statement"}
    ),
)
