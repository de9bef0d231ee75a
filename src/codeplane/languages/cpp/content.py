"""Whether a file is in C++, by its bytes: headers of C and of C++ have the same ending.

A header of C may have parts for C++ between `#ifdef __cplusplus` and `#endif`; it is in C all the same. What
counts is what C has no syntax for, outside of such parts, comments and texts.
"""

import re
from typing import Final

MOST_BYTES: Final = 1 << 18  # of a file that are looked at

_TAG: Final = (
    rb"(?<!struct\s)(?<!union\s)(?<!enum\s)(?<![@\w])"  # `struct class *c;`, `@class` of Objective-C
)
# What C++ alone has. The comment beside a line says what looks alike in C and is not meant.
_ONLY: Final = (
    _TAG + rb"namespace(?:\s*\{|\s+[A-Za-z_])"  # `p->namespace = 1;`
    rb"|(?:^|[;{}>])[ \t]*template\s*<|\bextern\s+template\b"  # `if (template < 3)`
    rb"|" + _TAG + rb"class\s+[A-Za-z_]"  # `int class;`
    rb"|\benum\s+(?:class|struct)\s+[A-Za-z_]"
    rb"|^[ \t]*(?:public|protected|private)(?:\s+[A-Za-z_]\w*)?\s*:(?!:)"  # `int private : 1;`
    rb"|::\s*[~*A-Za-z_]"
    rb"|\busing\s+(?:namespace\s+)?[A-Za-z_]"
    rb"|\b(?:static|const|dynamic|reinterpret)_cast\s*<"
    rb"|\bstruct\s+[A-Za-z_]\w*\s*(?:final\s*)?:\s*[A-Za-z_][^;{}]{0,500}\{"
    rb"|" + _TAG + rb"virtual\s+[~A-Za-z_]"
    rb"|^[ \t]*~[A-Za-z_]\w*\s*\(\s*\)\s*[;{]"  # `x = ~f();`
    rb"|\boperator\s*(?:\(\s*\)|\[\s*\])\s*\("
    rb"|\)\s*const\s*(?:noexcept\s*|override\s*|final\s*)*[;{=]"
    rb"|\)\s*(?:noexcept\s*)?=\s*default\s*;"
    rb"|\bconst\s+[A-Za-z_]\w*\s*&"  # `(const int)x & mask`
)
_EVIDENCE: Final = re.compile(_ONLY, re.MULTILINE)
_LINKAGE: Final = re.compile(rb"^[ \t]*extern\s+\"C\"", re.MULTILINE)
# Few headers of C have one of these, even in comments.
_SUSPICION: Final = re.compile(_ONLY + rb"|#[ \t]*include[ \t]*<[a-z_]+>", re.MULTILINE)
# Each ends at the end of the line or file at the latest: none is begun in vain, whatever a file has.
_NOISE: Final = re.compile(
    rb"//(?:\\\r?\n|[^\n])*"
    rb"|/\*.*?(?:\*/|\Z)"
    rb"|\"(?:\\.|[^\"\\\n])*\"?"
    rb"|(?<!\w)'(?:\\.|[^'\\\n])*'?"  # `1'000`
    rb"|\[\[[^\[\]\n]*"  # `[[gnu::packed]]`
    rb"|^[ \t]*#[ \t]*(?P<word>\w+)(?P<rest>(?:\\\r?\n|/\*.*?(?:\*/|\Z)|//[^\n]*|[^\n])*)",
    re.DOTALL | re.MULTILINE,
)
_LIBRARY: Final = re.compile(rb"\s*<[a-z_]+>")  # `<vector>`
_OPENING: Final = frozenset((b"if", b"ifdef", b"ifndef"))
_ASKING: Final = _OPENING | {b"elif", b"elifdef", b"elifndef"}
_COMPILER: Final = b"__cplusplus"
_LIBRARY_USE: Final = b" std::x "


def is_of_language(data: bytes) -> bool:
    """Whether something in a file is C++ and cannot be C."""
    text = data[:MOST_BYTES]
    if _SUSPICION.search(text) is not None:
        return _has_evidence(text)
    # Headers of C have it for C++ alone: `#ifdef __cplusplus`.
    return _COMPILER not in text and _LINKAGE.search(text) is not None


def _has_evidence(text: bytes) -> bool:
    for_both: list[bytes] = []
    for_cpp: list[bytes] = []  # what the compiler sees only where it reads C++
    parts, depth, guard = for_both, 0, 0  # how many `#if` are open, and which of them asks for the language
    at = 0
    for match in _NOISE.finditer(text):
        parts += text[at : match.start()], b" "
        at = match.end()
        word = match["word"]
        if word == b"include" and _LIBRARY.match(match["rest"]):
            parts.append(_LIBRARY_USE)
        depth = max(0, depth + (word in _OPENING) - (word == b"endif"))
        if not guard and word in _ASKING and _COMPILER in match["rest"]:
            guard = depth
        elif depth < guard:
            guard = 0
        parts = for_cpp if guard else for_both
    parts.append(text[at:])
    code = b"".join(for_both)
    # All of a header may be for C++ alone: then there is nothing outside.
    return _EVIDENCE.search(code if code.strip() else b"".join(for_cpp)) is not None
