"""The scripts of a component and the expressions of its template as one script."""

import re
from typing import Final

from codeplane.languages.extraction import markup
from codeplane.languages.extraction.markup import Attribute, Made, Tag
from codeplane.languages.typescript import hooks
from codeplane.languages.typescript.hooks import narrowed_receivers, read_exports, reshape_outline

__all__ = ["narrowed_receivers", "read_exports", "readable_source", "reshape_outline"]

_SETUP: Final = re.compile(rb"(?<![\w-])setup(?![\w-])")
_MUSTACHE: Final = re.compile(rb"\{\{(.*?)\}\}", re.DOTALL)
_LOOP: Final = re.compile(rb"\s*(?P<left>\(.*?\)|\{.*?\}|\[.*?\]|[\w$]+)(?P<in>\s+(?:in|of)\s)", re.DOTALL)
_NAMES: Final = re.compile(rb"[A-Za-z_$][\w$]*")
_VALUE: Final = re.compile(rb":|v-bind|v-(?:if|else-if|show|model|html|text|memo|once)\b")
_ACTION: Final = re.compile(rb"@|v-on\b")
_SCOPE: Final = re.compile(rb"#|v-slot\b|slot-scope\Z")


def readable_source(data: bytes) -> bytes:
    """The source with blanks for all that is neither script nor expression."""
    script = Made(data)
    scripts = markup.scripts(data)
    for one in scripts:
        script.keep(one.start, one.end)
        script.put(one.end, b";" if one.end < len(data) else b"")
    if any(_SETUP.search(one.said) for one in scripts):
        _Template(script).fill()
    return hooks.readable_source(bytes(script.bytes))


class _Template:
    """The expressions of a template. Names that it makes itself are declared where they hold."""

    def __init__(self, made: Made) -> None:
        self._made = made
        self._page = markup.without_sections(made.data)
        self._open: list[tuple[bytes, bool]] = []  # tags, and whether each has a scope

    def fill(self) -> None:
        last = 0
        for tag in markup.tags(self._page):
            self._read_text(last, tag.start)
            last = tag.end
            if tag.is_close:
                self._close_scopes(tag)
            else:
                self._read_tag(tag)
        self._read_text(last, len(self._page))

    def _read_text(self, start: int, end: int) -> None:
        for one in _MUSTACHE.finditer(self._page, start, end):
            self._made.put(one.start(), b";(")
            self._made.keep(*one.span(1))
            self._made.put(one.end(1), b");")

    def _read_tag(self, tag: Tag) -> None:
        self._read_component(tag)
        attributes = list(markup.attributes(self._page, tag))
        scope = next((one for one in attributes if one.start >= 0 and self._is_scope(one)), None)
        names = set(_NAMES.findall(self._declared_text(scope))) if scope is not None else set()
        for one in attributes:
            is_early = scope is not None and one.at < scope.at
            if one == scope:
                self._begin_scope(one)
            elif one.start >= 0 and not (is_early and names.intersection(self._declared_names(one))):
                self._read_expression(one)
        if not tag.is_whole:
            self._open.append((tag.name, scope is not None))
        elif scope is not None:
            self._made.put(tag.end - 1, b"}")

    def _read_component(self, tag: Tag) -> None:
        if tag.name[:1].isupper():
            self._made.put(tag.name_at - 1, b";")
            self._made.keep(tag.name_at, tag.name_at + len(tag.name))
            self._made.put(tag.name_at + len(tag.name), b";")

    def _close_scopes(self, tag: Tag) -> None:
        names = [name for name, _ in self._open]
        if tag.name in names:
            while self._open:
                name, has_scope = self._open.pop()
                if has_scope:
                    self._made.put(tag.start, b"}")
                if name == tag.name:
                    break
        self._read_component(tag)

    def _is_scope(self, one: Attribute) -> bool:
        return one.name == b"v-for" or bool(_SCOPE.match(one.name))

    def _declared_text(self, scope: Attribute) -> bytes:
        """What an attribute declares."""
        value = self._page[scope.start : scope.end]
        match = _LOOP.match(value) if scope.name == b"v-for" else None
        return match["left"] if match else value

    def _declared_names(self, one: Attribute) -> list[bytes]:
        return _NAMES.findall(self._page[one.start : one.end])

    def _begin_scope(self, one: Attribute) -> None:
        self._made.put(one.start - len(b"{let "), b"{let ")
        self._made.keep(one.start, one.end)
        self._made.put(one.end, b";")
        match = _LOOP.match(self._page, one.start, one.end) if one.name == b"v-for" else None
        if match is None:
            return
        width = match.end("in") - match.start("in")
        self._made.put(match.start("in"), b",[]=".rjust(width))
        if match["left"].startswith(b"("):
            self._made.put(match.start("left"), b" ")
            self._made.put(match.end("left") - 1, b" ")

    def _read_expression(self, one: Attribute) -> None:
        is_action = bool(_ACTION.match(one.name))
        if not is_action and not _VALUE.match(one.name):
            return
        self._made.put(one.start - 2, b";{" if is_action else b";(")
        self._made.keep(one.start, one.end)
        self._made.put(one.end, b"};" if is_action else b");")
