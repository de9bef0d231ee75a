"""Where sites are in JavaScript."""

from codeplane.languages.sites.grammar import CallForm, SiteGrammar

SITES = SiteGrammar(
    calls={
        "call_expression": CallForm(function="function"),
        "new_expression": CallForm(function="constructor"),
    },
    decorators={"decorator": CallForm()},
    members={"member_expression": ("object", "property")},
    subscripts={"subscript_expression": ("object", "index")},
    memberships={"binary_expression": frozenset({"in"})},
    tested_owners=frozenset({"env"}),
    keyed_owners=frozenset({"process.env", "import.meta.env", "Deno.env", "Bun.env"}),
    names=frozenset(
        {
            "identifier",
            "property_identifier",
            "shorthand_property_identifier",
            "this",
            "super",
            "type_identifier",
            "private_property_identifier",
        }
    ),
    texts=frozenset({"string", "template_string"}),
    text_parts=frozenset({"string_fragment", "escape_sequence"}),
    escapes=frozenset({"escape_sequence"}),
    holes=frozenset({"template_substitution"}),
    lists=frozenset({"array"}),
    mappings=frozenset({"object"}),
    pairs={"pair": ("key", "value"), "method_definition": ("name", ".")},
    wrappers=frozenset(
        {"parenthesized_expression", "await_expression", "sequence_expression", "assignment_expression"}
    ),
    firsts=frozenset(
        {"extends_clause", "generic_type", "as_expression", "satisfies_expression", "non_null_expression"}
    ),
    type_arguments=frozenset({"type_arguments"}),
    concats={"binary_expression": "+"},
    fallbacks={"binary_expression": frozenset({"||", "??"})},
    choices={"ternary_expression": ("consequence", "alternative")},
    spreads=frozenset({"spread_element"}),
    defaults={"export_statement": "value"},
    functions=frozenset(
        {
            "arrow_function",
            "function_expression",
            "function_declaration",
            "method_definition",
            "generator_function",
            "class",
        }
    ),
    constants=frozenset({"number", "true", "false", "null", "undefined", "regex"}),
    raises={"throw_statement": "#0"},
    catches={"catch_clause": ("", "parameter")},
    classes={
        "class_declaration": ("name", ("(class_heritage)",)),
        "class": ("name", ("(class_heritage)",)),
    },
    loops={"for_in_statement": ("left", "right")},
    assignments={
        "variable_declarator": ("name", "value"),
        "assignment_expression": ("left", "right"),
        "field_definition": ("property", "value"),
    },
    returns=frozenset({"return_statement", "arrow_function"}),
    blocks=frozenset({"statement_block"}),
    function_values=True,
    conditions=frozenset({"if_statement", "try_statement", "switch_statement", "ternary_expression"}),
)
