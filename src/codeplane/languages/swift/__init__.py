"""Swift 6."""

from codeplane.languages.facts import FLAG_TEST
from codeplane.languages.spec import EntryPoints, LanguageSpec
from codeplane.languages.style import HeaderStyle

SPEC = LanguageSpec(
    name="swift",
    family="swift",
    entry_points=EntryPoints("main"),
    grammar="tree_sitter_swift",
    extensions=(".swift",),
    shebangs=("swift",),
    class_kinds={"function": "method", "variable": "property", "constant": "property"},
    decorator_flags={"Test": FLAG_TEST, "Suite": FLAG_TEST},
    test_base=r"\w*TestCase",
    dynamic_calls={
        "NSClassFromString": ("reflect", 0),
        "NSSelectorFromString": ("reflect", 0),
        "Selector": ("reflect", 0),
    },
    header=HeaderStyle(
        named=True, labels=True, typed=True, unsaid="internal", angles=True, quotes='"', rest=("...",)
    ),
    gaps="Names are not bound. Locals of functions and declared operators are no definitions.",
)
