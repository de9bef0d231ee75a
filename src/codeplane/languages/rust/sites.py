"""Where sites are in Rust."""

from codeplane.languages.sites.grammar import CallForm, SiteGrammar

SITES = SiteGrammar(
    calls={
        "call_expression": CallForm(function="function"),
        "macro_invocation": CallForm(function="macro", arguments="(token_tree)"),
    },
    decorators={"attribute": CallForm(name="#0")},
    members={"field_expression": ("value", "field"), "scoped_identifier": ("path", "name")},
    subscripts={"index_expression": ("#0", "#1")},
    names=frozenset(
        {"identifier", "field_identifier", "type_identifier", "self", "scoped_type_identifier", "crate"}
    ),
    texts=frozenset({"string_literal", "raw_string_literal"}),
    text_parts=frozenset({"string_content", "escape_sequence"}),
    lists=frozenset({"array_expression", "tuple_expression"}),
    wrappers=frozenset({"parenthesized_expression", "reference_expression"}),
    firsts=frozenset({"await_expression", "try_expression", "generic_function", "generic_type"}),
    type_arguments=frozenset({"type_arguments"}),
    concats={"binary_expression": "+"},
    functions=frozenset({"closure_expression", "function_item"}),
    constants=frozenset({"integer_literal", "float_literal", "boolean_literal"}),
    raising="""
        ((macro_invocation macro: (_) @_name) @raise
          (#any-of? @_name "panic" "todo" "unimplemented" "unreachable" "bail" "anyhow::bail" "std::panic"))
    """,
    classes={"struct_item": ("name", ()), "enum_item": ("name", ())},
    loops={"for_expression": ("pattern", "value")},
    assignments={
        "let_declaration": ("pattern", "value"),
        "assignment_expression": ("left", "right"),
        "const_item": ("name", "value"),
        "static_item": ("name", "value"),
    },
    returns=frozenset({"return_expression"}),
    tails=("(function_item body: (block (_) @tail .))",),
    conditions=frozenset({"if_expression", "match_expression"}),
)
