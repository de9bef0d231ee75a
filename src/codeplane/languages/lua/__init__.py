"""Lua 5."""

from codeplane.languages.spec import LanguageSpec
from codeplane.languages.style import HeaderStyle

SPEC = LanguageSpec(
    name="lua",
    family="lua",
    grammar="tree_sitter_lua",
    extensions=(".lua", ".rockspec"),
    shebangs=("lua", "luajit"),
    dynamic_calls={"load": ("eval", 0), "loadstring": ("eval", 0), "dofile": ("dynamic_import", 0)},
    constant=r"[A-Z][A-Z0-9_]+",
    header=HeaderStyle(lenient=True, rest=("...",)),
    gaps="Names are not bound. Locals of functions are no definitions.",
)
