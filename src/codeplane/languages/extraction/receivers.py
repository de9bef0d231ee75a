"""Receivers as short texts, so that members can be grouped by what stands before them."""

import re

LIMIT = 80
_LOOK = 400  # bytes of a receiver that are looked at; longer ones are results of something
_PLAIN = re.compile(rb"[\w.\x80-\xff]+\Z")
_TOKEN = re.compile(
    rb"(?P<string>[A-Za-z]{0,2}(?:\"\"\"|'''|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'))"
    rb"|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<space>\s+|\\\n)|(?P<text>[^()\[\]{}\"'\s\\]+|.)",
    re.DOTALL,
)
_SHAPES = {b"(": b"()", b"[": b"[]", b"{": b"{}"}


def shape(raw: bytes) -> bytes:
    """A receiver without the contents of its brackets and strings, white space folded.

    What stands in the brackets of `super` says whose bases are meant, and is kept.
    """
    if _PLAIN.match(raw):
        return raw[:LIMIT]
    if raw.startswith(b"super(") and (inside := b" ".join(raw[6:-1].split())):
        return b"super(%b)" % inside[:LIMIT]
    if len(raw) > _LOOK:
        return _SHAPES.get({b")": b"(", b"]": b"[", b"}": b"{"}.get(raw[-1:], b"("), b"()")
    parts: list[bytes] = []
    depth = 0
    for match in _TOKEN.finditer(raw):
        if match.lastgroup == "open":
            if depth == 0:
                parts.append(_SHAPES[match.group()])
            depth += 1
        elif match.lastgroup == "close":
            depth -= 1
        elif depth == 0 and match.lastgroup == "text":
            parts.append(match.group())
        elif depth == 0 and match.lastgroup == "string":
            parts.append(b'""')
        elif depth == 0 and parts and _between_words(raw, match):
            parts.append(b" ")
    return b"".join(parts)[:LIMIT]


def called(raw: bytes) -> bytes:
    """What is called, as a short text; nothing where that would be cut."""
    text = shape(raw)
    return text if len(text) < LIMIT else b""


def _between_words(raw: bytes, space: "re.Match[bytes]") -> bool:
    around = raw[space.start() - 1 : space.start()] + raw[space.end() : space.end() + 1]
    return len(around) == 2 and around.replace(b"_", b"a").isalnum()


def arguments(data: bytes, start: int) -> list[bytes]:
    """The arguments in the brackets that open at `start`, as written; what is too long is left out."""
    values: list[bytes] = [b""]
    depth = 0
    for match in _TOKEN.finditer(data, start, start + _LOOK):
        text = match.group()
        if match.lastgroup == "close":
            depth -= 1
            if depth == 0:
                return [argument.strip() for argument in values if argument.strip()]
        if depth == 1 and match.lastgroup == "text" and b"," in text:
            head, *rest = text.split(b",")
            values[-1] += head
            values += rest
        elif depth:
            values[-1] += text
        if match.lastgroup == "open":
            depth += 1
    return [argument.strip() for argument in values[:-1]]


_LITERAL = re.compile(
    rb"""[rRbBuU]?(?:"((?:(?!#\{)[^"\\\n])*)"|'([^'\\\n]*)'|`([^`\\$\n]*)`|:(@{0,2}\w+[?!=]?))\Z"""
)


def literal(argument: bytes) -> bytes | None:
    """The text of a plain string literal, or None."""
    match = _LITERAL.match(argument)
    return next((group for group in match.groups() if group is not None), None) if match else None
