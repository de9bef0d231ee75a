"""C++."""

from codeplane.languages.facts import ScopeKind
from codeplane.languages.spec import LanguageSpec
from codeplane.languages.style import PREPROCESSED, HeaderStyle

SPEC = LanguageSpec(
    name="cpp",
    family="c",
    main="main",
    grammar="tree_sitter_cpp",
    standard=r"<(?:assert|complex|ctype|errno|fenv|float|inttypes|iso646|limits|locale|math|setjmp|signal|std\w+"
    r"|string|tgmath|threads|time|uchar|wchar|wctype)\.h>|<[a-z_]+>",
    extensions=(".cc", ".cpp", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".ipp", ".tpp", ".inl"),
    inherits="c",
    members_visible="nested",
    declared=frozenset((ScopeKind.FILE, ScopeKind.NAMESPACE, ScopeKind.FUNCTION, ScopeKind.BLOCK)),
    self_keywords=("this",),
    apart={"label": frozenset()},
    # A constructor is never found under its name: that is the class.
    spaces={"constructor": "-"},
    inherits_names=True,
    open_functions=True,
    open_kinds=frozenset(("enum_member",)),
    file_kinds=frozenset(("macro",)),
    dynamic_calls={
        "dlsym": ("dlsym", 1),
        "GetProcAddress": ("dlsym", 1),
        "dlopen": ("dynamic_import", 0),
    },
    surface="included",
    keywords=("(field_initializer . (field_identifier) @keyword)",),
    prototypes=True,
    writing=PREPROCESSED,
    header=HeaderStyle(order="type", typed=True, angles=True, rest=("...",)),
    gaps="Macros are not expanded; overloads, names of templates and calls that arguments may redirect are"
    " not told apart; a `.h` file is read as C.",
)
