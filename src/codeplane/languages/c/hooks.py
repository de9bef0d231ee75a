"""What queries cannot say: names in the text of a macro, forward declarations, macros with a default, and the
brackets for C++ around a header.
"""

import re
from collections.abc import Iterator

from codeplane.languages.extraction.outline import Outline

_TOKEN = re.compile(
    rb"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|\.?\d[\w.]*"
    rb"|(?P<name>[A-Za-z_\x80-\xff][\w\x80-\xff]*)",
    re.DOTALL,
)
_KEYWORDS = frozenset(
    b"auto break case char const continue default do double else enum extern float for goto if inline int "
    b"long register restrict return short signed sizeof static struct switch typedef union unsigned void "
    b"volatile while bool true false nullptr __VA_ARGS__ __VA_OPT__".split()
)
_LINKAGE = re.compile(
    rb"#[ \t]*if(?:def[ \t]+|[ \t]+defined[ \t]*\(?[ \t]*)__cplusplus[ \t]*\)?[^\n]*\n"
    rb"(\s*(?:extern[ \t]+\"C\"\s*\{|\}[ \t]*;?)[^\n#]*\n\s*)#[ \t]*endif"
)
_ASKED = re.compile(
    rb"^[ \t]*#[ \t]*if(?:ndef[ \t]+|.{0,200}![ \t]*defined[ \t]*\(?[ \t]*)(\w+)", re.MULTILINE
)
_TAGGED = ("struct", "class")
_SPACE = re.compile(rb"\s*")


def reshape_outline(outline: Outline, data: bytes) -> None:
    """Keeps `struct x;` alone of all mentions of a tag, and doubts what `#ifndef X` says may be defined."""
    guards: dict[bytes, int] = {}
    for match in _ASKED.finditer(data):
        guards.setdefault(match.group(1), match.start())
    for draft in outline.drafts:
        if draft.kind == "macro":
            at = guards.get(data[slice(*draft.name)])
            draft.doubtful = at is not None and at < draft.start and draft.body_start >= 0
        elif draft.forward and draft.kind in _TAGGED:
            space = _SPACE.match(data, draft.end)
            if not space or data[space.end() : space.end() + 1] != b";":
                draft.name = (-1, -1)


def readable_source(data: bytes) -> bytes:
    """The source without `extern "C" {` and its end where only C++ sees them: each alone is no C."""
    if b"__cplusplus" not in data:
        return data
    return _LINKAGE.sub(_blank_out, data)


def _blank_out(match: re.Match[bytes]) -> bytes:
    whole, start = match.group(), match.start()
    inside = whole[match.start(1) - start : match.end(1) - start]
    head, tail = whole[: match.start(1) - start], whole[match.end(1) - start :]
    return head + re.sub(rb"[^\n]", b" ", inside) + tail


def raw_names(data: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The names in the text of a macro: start, end."""
    for match in _TOKEN.finditer(data, start, end):
        if match.lastgroup and match.group() not in _KEYWORDS:
            yield match.span()
