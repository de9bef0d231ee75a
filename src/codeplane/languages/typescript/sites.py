"""Where sites are in TypeScript."""

from dataclasses import replace

from codeplane.languages.javascript.sites import SITES as JAVASCRIPT

_HERITAGE = ("(class_heritage)",)

SITES = replace(
    JAVASCRIPT,
    classes={**JAVASCRIPT.classes, "abstract_class_declaration": ("name", _HERITAGE)},
    assignments={
        **{node: parts for node, parts in JAVASCRIPT.assignments.items() if node != "field_definition"},
        "public_field_definition": ("name", "value"),
        "enum_assignment": ("name", "value"),
    },
)
