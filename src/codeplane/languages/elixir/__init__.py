"""Elixir: modules, protocols, functions and macros."""

from codeplane.languages.spec import LanguageSpec

SPEC = LanguageSpec(
    name="elixir",
    family="elixir",
    grammar="tree_sitter_elixir",
    extensions=(".ex", ".exs"),
    shebangs=("elixir",),
    class_kinds={},
    name_marks='"',
    dynamic_calls={"apply": ("call", 1), "Code.eval_string": ("eval", 0), "Module.concat": ("const_get", 0)},
    gaps="Names are not bound: macros may make any. Variables are no definitions.",
)
