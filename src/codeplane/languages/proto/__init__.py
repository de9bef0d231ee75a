"""Protocol buffers: messages, enums, services, and the types that they name."""

from codeplane.languages.spec import LanguageSpec
from codeplane.languages.style import CURLY

SPEC = LanguageSpec(
    name="proto",
    family="proto",
    grammar="tree_sitter_json",
    extensions=(".proto",),
    surface="included",
    writing=CURLY,
    gaps="Options and the values of enums are not referred to; types behind a package are not bound.",
)
