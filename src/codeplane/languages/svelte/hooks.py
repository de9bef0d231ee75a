"""The scripts of a component and the expressions of its markup as one script."""

import re
from collections.abc import Iterator
from typing import Final

from codeplane.languages.extraction import markup
from codeplane.languages.extraction.markup import Made, Tag
from codeplane.languages.typescript import hooks
from codeplane.languages.typescript.hooks import narrowed_receivers, read_exports, reshape_outline

__all__ = ["narrowed_receivers", "read_exports", "readable_source", "reshape_outline"]

# What a store holds is read by its name with a mark before it, which is no part of the name.
_STORE: Final = re.compile(
    rb"(?<![\w$.\"'`])\$(?!(?:state|derived|effect|props|bindable|inspect|host)\b)(?=[A-Za-z_])"
)
_NAMES: Final = re.compile(rb"[A-Za-z_$][\w$]*")
_SLOT: Final = re.compile(rb"(?<=\s)let:([\w$]+)(?:=\{([^{}]*)\})?")
_DIRECTIVE: Final = re.compile(rb"(?<=\s)(?:use|transition|in|out|animate):([A-Za-z_$][\w$.]*)")
_EACH: Final = re.compile(
    rb"\{#each (?P<what>.*?)(?P<as>\s+as\s)(?P<names>\s*(?:\{.*\}|\[.*\]|[\w$]+)\s*(?:,\s*[\w$]+\s*)?)"
    rb"(?P<key>\(.*\)\s*)?\}",
    re.DOTALL,
)
_AWAIT: Final = re.compile(rb"\{#await (?P<what>.*?)(?:(?P<then>\s+then\s)(?P<names>.*))?\}", re.DOTALL)
_MARK: Final = re.compile(rb"\{\s*(?:[#:/@][\w]*(?:\s+if\b)?|\.\.\.)")
_BOTH: Final = re.compile(rb"(?<=\s)(\{\s*[\w$]+\s*\})")
_WORD: Final = re.compile(rb"\{\s*([#:/@]\w*)")
_QUOTES: Final = b"\"'`"


def readable_source(data: bytes) -> bytes:
    """The source with blanks for all that is neither script nor expression."""
    script = Made(data)
    for one in markup.scripts(data):
        script.keep(one.start, one.end)
        script.put(one.end, b";" if one.end < len(data) else b"")
    _Markup(script).fill()
    return hooks.readable_source(_STORE.sub(b" ", bytes(script.bytes)))


class _Markup:
    """The expressions of the markup. Names that it makes itself are declared where they hold."""

    def __init__(self, made: Made) -> None:
        self._made = made
        self._page = markup.without_sections(made.data)
        # Where the names hold that a slot gives is not looked for: what has them is left out.
        self._given = {
            name for one in _SLOT.finditer(self._page) for name in _NAMES.findall(one[2] or one[1])
        }

    def fill(self) -> None:
        tags = list(markup.tags(self._page))
        # `{name}` in a tag is the name of an attribute as well.
        both = {
            tag.start + one.start(1)
            for tag in tags
            for one in _BOTH.finditer(markup.without_quotes(self._page[tag.start : tag.end]))
        }
        for start, end in _outer_braces(self._page):
            if start not in both and not self._given.intersection(_NAMES.findall(self._page, start, end)):
                self._read_expression(start, end)
        for tag in tags:
            self._read_tag(tag)

    def _read_tag(self, tag: Tag) -> None:
        end = tag.name_at + len(tag.name)
        if tag.name[:1].isupper():
            self._made.put(tag.name_at - 1, b";")
            self._made.keep(tag.name_at, end)
            self._made.put(end, b";")
        for one in _DIRECTIVE.finditer(self._page, end, tag.end):
            self._made.put(one.start(1) - 1, b";")
            self._made.keep(*one.span(1))
            self._made.put(one.end(1), b";")

    def _read_expression(self, start: int, end: int) -> None:
        script, page = self._made, self._page
        word = _WORD.match(page, start, end)
        kind = word[1] if word else b""
        if kind == b"#each":
            self._read_each(start, end)
        elif kind == b"#await":
            self._read_await(start, end)
        elif kind in (b"/each", b"/await", b"/snippet"):
            script.put(start, b"}")
        elif kind in (b":then", b":catch", b"@const"):
            self._declare_names(start, end, len(kind))
        elif kind == b"#snippet":
            script.keep(start, end)
            script.put(start, b";function ")
            script.put(end - 1, b"{")
        elif page[start + 1 : end].lstrip().startswith(b"{"):
            script.keep(start, end)
            script.put(start - 1, b";(")
            script.put(end - 1, b")")
            if page[end : end + 1] not in (b"{", b"<", b""):
                script.put(end, b";")
        else:
            script.keep(start, end)
            if mark := _MARK.match(page, start, end):
                script.put(start + 1, b" " * (mark.end() - start - 1))

    def _read_each(self, start: int, end: int) -> None:
        self._made.keep(start, end)
        self._made.put(start, b"{let[]=")
        self._made.put(end - 1, b";")
        if match := _EACH.fullmatch(self._page, start, end):
            width = match.end("as") - match.start("as")
            self._made.put(match.start("as"), b" " * (width - 2) + b", ")
            if match["key"]:
                self._made.put(match.start("key") - 1, b";")

    def _read_await(self, start: int, end: int) -> None:
        self._made.keep(start, end)
        self._made.put(start, b"{let[]= ")
        self._made.put(end - 1, b";")
        match = _AWAIT.fullmatch(self._page, start, end)
        if match and match["then"]:
            width = match.end("then") - match.start("then")
            self._made.put(match.start("then"), b" " * (width - 2) + b", ")

    def _declare_names(self, start: int, end: int, length: int) -> None:
        if not self._page[start + 1 + length : end - 1].strip():
            return
        self._made.keep(start, end)
        self._made.put(start, b";let".ljust(length + 1))
        self._made.put(end - 1, b";")


def _outer_braces(data: bytes) -> Iterator[tuple[int, int]]:
    """Where the outermost pairs of braces are, strings inside of them left out."""
    at = 0
    while (start := data.find(b"{", at)) >= 0:
        depth, quote, end = 0, 0, start
        while end < len(data):
            char = data[end]
            if quote:
                end += char == ord("\\")
                quote = 0 if char == quote else quote
            elif char in _QUOTES:
                quote = char
            else:
                depth += (char == ord("{")) - (char == ord("}"))
            end += 1
            if not depth:
                break
        if depth:
            return
        yield start, end
        at = end
