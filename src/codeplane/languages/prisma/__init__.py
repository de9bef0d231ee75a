"""Prisma: models, views, types and enums, and the ones that their fields name."""

from codeplane.languages.spec import LanguageSpec
from codeplane.languages.style import CURLY

SPEC = LanguageSpec(
    name="prisma",
    family="prisma",
    grammar="tree_sitter_json",
    extensions=(".prisma",),
    writing=CURLY,
    gaps="Attributes are not referred to.",
)
