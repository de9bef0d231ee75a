"""C++."""

from codeplane.languages.spec import EntryPoints, LanguageSpec
from codeplane.languages.style import PREPROCESSED, HeaderStyle

SPEC = LanguageSpec(
    name="cpp",
    family="c",
    entry_points=EntryPoints("main"),
    grammar="tree_sitter_cpp",
    standard=r"<(?:assert|complex|ctype|errno|fenv|float|inttypes|iso646|limits|locale|math|setjmp|signal|std\w+"
    r"|string|tgmath|threads|time|uchar|wchar|wctype)\.h>|<[a-z_]+>",
    extensions=(".cc", ".cpp", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".ipp", ".tpp", ".inl", ".h"),
    inherits="c",
    file_kinds=frozenset(("macro",)),
    dynamic_calls={
        "dlsym": ("dlsym", 1),
        "GetProcAddress": ("dlsym", 1),
        "dlopen": ("dynamic_import", 0),
    },
    surface="included",
    writing=PREPROCESSED,
    header=HeaderStyle(order="type", typed=True, angles=True, rest=("...",)),
    gaps="Macros are not expanded; overloads, names of templates and calls that arguments may redirect are"
    " not told apart; a `.h` file is read as C++ where it has what C has no syntax for.",
)
