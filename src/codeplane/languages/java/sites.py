"""Where sites are in Java."""

from codeplane.languages.sites.grammar import CallForm, SiteGrammar

SITES = SiteGrammar(
    calls={
        "method_invocation": CallForm(receiver="object", name="name"),
        "object_creation_expression": CallForm(function="type"),
    },
    decorators={
        "annotation": CallForm(name="name"),
        "marker_annotation": CallForm(name="name"),
    },
    members={"field_access": ("object", "field"), "scoped_identifier": ("scope", "name")},
    names=frozenset({"identifier", "type_identifier", "this", "super", "scoped_type_identifier"}),
    texts=frozenset({"string_literal"}),
    text_parts=frozenset({"string_fragment", "multiline_string_fragment", "escape_sequence"}),
    lists=frozenset({"array_initializer", "element_value_array_initializer", "type_list"}),
    keywords={"element_value_pair": ("key", "value")},
    wrappers=frozenset({"parenthesized_expression", "cast_expression"}),
    firsts=frozenset({"generic_type", "class_literal"}),
    type_arguments=frozenset({"type_arguments"}),
    concats={"binary_expression": "+"},
    functions=frozenset(
        {"lambda_expression", "method_declaration", "constructor_declaration", "method_reference"}
    ),
    constants=frozenset(
        {"decimal_integer_literal", "true", "false", "null_literal", "decimal_floating_point_literal"}
    ),
    raises={"throw_statement": "#0"},
    catches={"catch_clause": ("(catch_formal_parameter)/(catch_type)", "(catch_formal_parameter)/name")},
    classes={
        "class_declaration": ("name", ("superclass", "interfaces")),
        "interface_declaration": ("name", ("(extends_interfaces)",)),
        "record_declaration": ("name", ("interfaces",)),
    },
    loops={"enhanced_for_statement": ("name", "value")},
    assignments={"variable_declarator": ("name", "value"), "assignment_expression": ("left", "right")},
    returns=frozenset({"return_statement"}),
    conditions=frozenset({"if_statement", "try_statement", "switch_expression", "ternary_expression"}),
)
