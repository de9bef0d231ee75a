"""Where sites are in Ruby."""

from codeplane.languages.sites.grammar import CallForm, SiteGrammar

SITES = SiteGrammar(
    calls={"call": CallForm(receiver="receiver", name="method", block="block")},
    members={"scope_resolution": ("scope", "name")},
    subscripts={"element_reference": ("object", "#1")},
    names=frozenset(
        {"identifier", "constant", "self", "instance_variable", "class_variable", "global_variable"}
    ),
    texts=frozenset({"string", "simple_symbol", "delimited_symbol", "bare_string", "bare_symbol"}),
    text_parts=frozenset({"string_content", "escape_sequence"}),
    holes=frozenset({"interpolation"}),
    raw_quotes=True,
    lists=frozenset({"array", "string_array", "symbol_array"}),
    mappings=frozenset({"hash"}),
    pairs={"pair": ("key", "value")},
    keywords={"pair": ("key", "value")},
    wrappers=frozenset({"parenthesized_statements"}),
    concats={"binary": "+"},
    functions=frozenset({"lambda", "method", "singleton_method"}),
    constants=frozenset({"integer", "float", "true", "false", "nil"}),
    raising="""
        ((call !receiver method: (identifier) @_name) @raise (#any-of? @_name "raise" "fail"))
        ((identifier) @bare (#eq? @bare "raise"))
    """,
    catches={"rescue": ("exceptions", "variable")},
    classes={"class": ("name", ("superclass",)), "module": ("name", ())},
    assignments={"assignment": ("left", "right"), "operator_assignment": ("left", "right")},
    returns=frozenset({"return"}),
    conditions=frozenset({"if", "unless", "case", "if_modifier", "unless_modifier", "begin", "conditional"}),
)
