"""C."""

from codeplane.languages.spec import EntryPoints, LanguageSpec
from codeplane.languages.style import PREPROCESSED, HeaderStyle

SPEC = LanguageSpec(
    name="c",
    family="c",
    entry_points=EntryPoints("main"),
    grammar="tree_sitter_c",
    standard=r"<(?:assert|complex|ctype|errno|fenv|float|inttypes|iso646|limits|locale|math|setjmp|signal|std\w+"
    r"|string|tgmath|threads|time|uchar|wchar|wctype)\.h>",
    extensions=(".c", ".h"),
    own_queries=("classic.scm",),
    file_kinds=frozenset(("macro",)),
    dynamic_calls={
        "dlsym": ("dlsym", 1),
        "GetProcAddress": ("dlsym", 1),
        "dlopen": ("dynamic_import", 0),
    },
    surface="included",
    writing=PREPROCESSED,
    header=HeaderStyle(order="type", typed=True, rest=("...",)),
    gaps="Macros are not expanded; a `.h` file is read as C++ where it has what C has no syntax for.",
)
