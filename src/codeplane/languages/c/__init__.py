"""C."""

from codeplane.languages.facts import ScopeKind
from codeplane.languages.spec import LanguageSpec
from codeplane.languages.style import PREPROCESSED, HeaderStyle

SPEC = LanguageSpec(
    name="c",
    family="c",
    main="main",
    grammar="tree_sitter_c",
    standard=r"<(?:assert|complex|ctype|errno|fenv|float|inttypes|iso646|limits|locale|math|setjmp|signal|std\w+"
    r"|string|tgmath|threads|time|uchar|wchar|wctype)\.h>",
    extensions=(".c", ".h"),
    own_queries=("classic.scm",),
    declared=frozenset((ScopeKind.FILE, ScopeKind.FUNCTION, ScopeKind.BLOCK)),
    apart={"struct": frozenset(("struct", "enum")), "label": frozenset()},
    open_kinds=frozenset(("enum_member",)),
    file_kinds=frozenset(("macro",)),
    dynamic_calls={
        "dlsym": ("dlsym", 1),
        "GetProcAddress": ("dlsym", 1),
        "dlopen": ("dynamic_import", 0),
    },
    surface="included",
    prototypes=True,
    writing=PREPROCESSED,
    header=HeaderStyle(order="type", typed=True, rest=("...",)),
    gaps="Macros are not expanded; a `.h` file is read as C.",
)
