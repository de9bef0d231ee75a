"""Where sites are in Kotlin."""

from codeplane.languages.sites.grammar import CallForm, SiteGrammar

SITES = SiteGrammar(
    calls={
        "call_expression": CallForm(function="#0", arguments="(value_arguments)", block="(annotated_lambda)"),
        "constructor_invocation": CallForm(function="#0", arguments="(value_arguments)"),
    },
    decorators={"annotation": CallForm()},
    members={"navigation_expression": ("#0", "#1")},
    subscripts={"index_expression": ("#0", "#1")},
    names=frozenset({"identifier", "user_type", "this_expression"}),
    texts=frozenset({"string_literal", "multiline_string_literal"}),
    text_parts=frozenset({"string_content", "escape_sequence"}),
    holes=frozenset({"interpolation"}),
    raw_quotes=True,
    lists=frozenset({"collection_literal", "delegation_specifiers"}),
    keywords={"value_argument": ("#-2", "#-1")},
    wrappers=frozenset({"parenthesized_expression", "delegation_specifier"}),
    type_arguments=frozenset({"type_arguments"}),
    concats={"binary_expression": "+"},
    functions=frozenset({"lambda_literal", "function_declaration", "anonymous_function"}),
    constants=frozenset({"number_literal", "boolean_literal", "null"}),
    raises={"throw_expression": "#0"},
    catches={"catch_block": ("(user_type)", "(identifier)")},
    classes={"class_declaration": ("name", ("(delegation_specifiers)",))},
    assignments={"property_declaration": ("#-2", "#-1"), "assignment": ("#0", "#1")},
    returns=frozenset({"return_expression"}),
    conditions=frozenset({"if_expression", "when_expression", "try_expression"}),
)
