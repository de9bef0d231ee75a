"""Tags of pages that have scripts in them, and a script of the same length that says what the page does.

What is no code becomes blank, so every name stays where it is. What a page adds to code, a loop or a scope,
is written into the blanks.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

# Bounded, so that no page takes more time than its length allows.
_QUOTED: Final = rb"\"[^\"]{0,20000}+\"|'[^']{0,20000}+'"
_BRACED: Final = rb"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]{0,2000}+\}){0,2000}+\}){0,2000}+\}"
_RAW: Final = re.compile(
    rb"<(?P<name>script|style)(?P<said>(?:\s(?:[^<>\"']|" + _QUOTED + rb"){0,2000}+)?)>(?P<text>.*?)"
    rb"(?P<end></(?P=name)\s*+>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_COMMENT: Final = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAG: Final = re.compile(
    rb"<(?P<close>/?)(?P<name>[A-Za-z][\w.:-]*+)"
    rb"(?P<rest>(?:[^<>\"'{}]|" + _QUOTED + rb"|" + _BRACED + rb"|(?<==)>){0,20000}+)>",
    re.DOTALL,
)
_ATTRIBUTE: Final = re.compile(
    rb"(?P<name>[^\s=\"'{}/>]+)(?:\s*=\s*(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'))?"
)
VOID: Final = frozenset(b"area base br col embed hr img input link meta param source track wbr".split())


class Script(NamedTuple):
    """A script of a page: what its tag says, and the bytes of its text."""

    said: bytes
    start: int
    end: int


class Attribute(NamedTuple):
    """An attribute with a value in quotes; the bytes of the value, -1 where there is none."""

    name: bytes
    at: int
    start: int
    end: int


class Tag(NamedTuple):
    """A tag by its bytes."""

    name: bytes
    name_at: int
    start: int
    end: int
    is_close: bool
    is_whole: bool  # nothing follows that belongs to it


def scripts(data: bytes) -> list[Script]:
    """The scripts of a page."""
    elements = (one for one in _RAW.finditer(data) if one["name"].lower() == b"script")
    return [Script(one["said"], *one.span("text")) for one in elements]


def without_sections(data: bytes) -> bytes:
    """The page without scripts, styles and comments, each as blank as it is long."""
    for pattern in (_RAW, _COMMENT):
        data = pattern.sub(lambda one: blank(one[0]), data)
    return data


def blank(data: bytes) -> bytes:
    """White space in the same lines."""
    return re.sub(rb"[^\r\n]", b" ", data)


def without_quotes(data: bytes) -> bytes:
    """What stands outside of quotes."""
    return re.sub(_QUOTED, lambda one: blank(one[0]), data)


def tags(data: bytes) -> Iterator[Tag]:
    """The tags of a page without sections, in order."""
    for one in _TAG.finditer(data):
        is_whole = one["rest"].rstrip().endswith(b"/") or one["name"].lower() in VOID
        yield Tag(one["name"], one.start("name"), *one.span(), bool(one["close"]), is_whole)


def attributes(data: bytes, tag: Tag) -> Iterator[Attribute]:
    """The attributes of a tag."""
    for one in _ATTRIBUTE.finditer(data, tag.name_at + len(tag.name), tag.end - 1):
        mark = "double" if one["double"] is not None else "single"
        yield Attribute(one["name"], one.start("name"), *one.span(mark))


class Made:
    """A script on its way: blanks that code is put into."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.bytes = bytearray(blank(data))

    def keep(self, start: int, end: int) -> None:
        self.bytes[start:end] = self.data[start:end]

    def put(self, at: int, text: bytes) -> None:
        """Writes a text over what is there, as far as there is room."""
        text = text[max(-at, 0) : len(self.bytes) - at] if at < len(self.bytes) else b""
        start = max(at, 0)
        self.bytes[start : start + len(text)] = text
