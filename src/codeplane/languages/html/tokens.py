"""Splits an HTML file into tags, comments and text, by the rules of the HTML standard, on bytes."""

import re
from html.entities import html5
from typing import Final, Literal, NamedTuple

TEXT: Final = "text"
COMMENT: Final = "comment"
DOCTYPE: Final = "doctype"
START: Final = "start"
END: Final = "end"
CDATA: Final = "cdata"
ISLAND: Final = "island"
BROKEN: Final = "broken"
Kind = Literal["text", "comment", "doctype", "start", "end", "cdata", "island", "broken"]

SPACES: Final = b" \t\n\f\r"
_ATTRIBUTE: Final = re.compile(
    rb"[ \t\n\f\r/]*+(?:(?P<close>>)"
    rb"|(?P<name>=?[^ \t\n\f\r/>=]*+)"
    rb"(?P<equals>[ \t\n\f\r]*+=[ \t\n\f\r]*+"
    rb"""(?:(?P<double>"[^"]*+")|(?P<single>'[^']*+')|(?P<bare>[^ \t\n\f\r>"'][^ \t\n\f\r>]*+)|(?=>)))?)"""
)
_TAG_NAME: Final = re.compile(rb"[A-Za-z][^ \t\n\f\r/>]*+")
_COMMENT: Final = re.compile(rb"<!--(?:-?>|.*?--!?>)", re.DOTALL)
_DOCTYPE: Final = re.compile(rb"<!doctype[^>]*>?", re.IGNORECASE)
_CDATA: Final = re.compile(rb"<!\[CDATA\[.*?(?:\]\]>|\Z)", re.DOTALL)
_BOGUS: Final = re.compile(rb"</>|<(?:[!?]|/[^A-Za-z])[^>]*>?")
# Code of the server between markup. A processing instruction of XML is a comment to HTML, and ends with `>`.
_ISLANDS: Final = re.compile(rb"(<\?)(?:php\b|=|(?=[ \t\r\n]))|(<%)|(\{#)")
_CLOSERS: Final = {b"<?": b"?>", b"<%": b"%>", b"{#": b"#}"}
_MARK: Final = re.compile(rb"<(?=[A-Za-z/!?%])|\{#")
_SCRIPT_MARK: Final = re.compile(rb"(<!--)|(-->)|<(/?)script(?=[ \t\n\f\r/>])", re.IGNORECASE)
_REFERENCE: Final = re.compile(r"&(?:#([0-9]{1,9})(;?)|#[xX]([0-9a-fA-F]{1,8})(;?)|([A-Za-z0-9]{1,40})(;?))")
_LONGEST_LEGACY: Final = max(len(name) for name in html5 if not name.endswith(";"))


class Attribute(NamedTuple):
    """One attribute of a tag, with the bytes that it and its value take."""

    name: str  # in lower case
    start: int
    name_end: int
    value_start: int  # without quotes; equal to `value_end` where there is no value
    value_end: int
    end: int
    quote: str | None  # `"`, `'`, empty for a bare value, None for a name without a value


class Token(NamedTuple):
    """One piece of a file."""

    kind: Kind
    start: int
    end: int
    name: str = ""  # of a tag, as it is written
    attributes: tuple[Attribute, ...] = ()
    is_self_closing: bool = False

    @property
    def name_start(self) -> int:
        """Where the name of a tag begins."""
        return self.start + (2 if self.kind == END else 1)

    @property
    def name_end(self) -> int:
        """Where the name of a tag ends."""
        return self.name_start + len(self.name.encode("utf-8", "surrogateescape"))


class Scanner:
    """Reads the tokens of a file one by one. Whoever builds the tree says where raw text begins."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 3 if data.startswith(b"\xef\xbb\xbf") else 0
        self._absent: set[bytes] = set()  # closers of server code that don't occur any more

    def next_token(self, has_cdata: bool = False) -> Token | None:
        """The next token; None at the end. `has_cdata` is for foreign content and XML."""
        start = self.position
        if start >= len(self.data):
            return None
        token = self._markup_at(start, has_cdata) or self._text_from(start, has_cdata)
        self.position = token.end
        return token

    def _text_from(self, start: int, has_cdata: bool) -> Token:
        position = start
        while mark := _MARK.search(self.data, position):
            if mark.start() > start and self._markup_at(mark.start(), has_cdata):
                return Token(TEXT, start, mark.start())
            position = mark.end()
        return Token(TEXT, start, len(self.data))

    def _markup_at(self, start: int, has_cdata: bool) -> Token | None:
        data = self.data
        if island := self._island_end(start):
            return Token(ISLAND, start, island)
        if data[start] != 0x3C:
            return None
        if data.startswith(b"<!--", start):
            comment = _COMMENT.match(data, start)
            return Token(COMMENT, start, comment.end() if comment else len(data))
        if doctype := _DOCTYPE.match(data, start):
            return Token(DOCTYPE, start, doctype.end())
        if has_cdata and (section := _CDATA.match(data, start)):
            return Token(CDATA, start, section.end())
        if bogus := _BOGUS.match(data, start):
            return Token(COMMENT, start, bogus.end())
        return self._tag_at(start)

    def _island_end(self, start: int) -> int | None:
        opener = _ISLANDS.match(self.data, start)
        if opener is None:
            return None
        closer = _CLOSERS[opener[1] or opener[2] or opener[3]]
        position = -1 if closer in self._absent else self.data.find(closer, opener.end())
        if position >= 0:
            return position + len(closer)
        self._absent.add(closer)
        return None

    def _tag_at(self, start: int) -> Token | None:
        is_end = self.data.startswith(b"/", start + 1)
        name = _TAG_NAME.match(self.data, start + (2 if is_end else 1))
        if name is None:
            return None
        attributes: list[Attribute] = []
        position = name.end()
        while match := _ATTRIBUTE.match(self.data, position):
            position = match.end()
            if match["close"]:
                is_closed = (
                    not is_end and self.data[position - 2] == 0x2F and _is_slash_free(attributes, position)
                )
                text = name[0].decode("utf-8", "surrogateescape")
                return Token(END if is_end else START, start, position, text, tuple(attributes), is_closed)
            if not match["name"] or self.data[position : position + 1] == b"":
                break
            if match["equals"] is None and _has_open_quote(self.data, position):
                break
            attributes.append(_attribute(match))
        return Token(BROKEN, start, len(self.data))  # the file ends inside of the tag

    def raw_text_end(self, name: str) -> int:
        """Where the end tag of an element of raw text begins; the end of the file where it has none."""
        if name == "plaintext":
            return len(self.data)
        if name == "script":
            return self._script_end()
        pattern = re.compile(rb"</" + re.escape(name.encode()) + rb"(?=[ \t\n\f\r/>])", re.IGNORECASE)
        match = pattern.search(self.data, self.position)
        return match.start() if match else len(self.data)

    def _script_end(self) -> int:
        """A script that writes a script inside of a comment is not ended by the inner one's end tag."""
        is_comment = is_nested = False
        for match in _SCRIPT_MARK.finditer(self.data, self.position):
            if match[1]:
                is_comment = True
            elif match[2]:
                is_comment = is_nested = False
            elif match[3] and is_nested:
                is_nested = False
            elif match[3]:
                return match.start()
            else:
                is_nested = is_comment
        return len(self.data)


def _is_slash_free(attributes: list[Attribute], position: int) -> bool:
    """Whether the slash before `>` is of no value: `value=x/>` has the value `x/`."""
    return not attributes or attributes[-1].end < position - 1


def _has_open_quote(data: bytes, position: int) -> bool:
    rest = re.compile(rb"""[ \t\n\f\r]*=[ \t\n\f\r]*(["'])""").match(data, position)
    return rest is not None and data.find(rest[1], rest.end()) < 0


def _attribute(match: re.Match[bytes]) -> Attribute:
    name = match["name"].decode("utf-8", "surrogateescape").lower()
    start, name_end, end = match.start("name"), match.end("name"), match.end()
    for group, quote in (("double", '"'), ("single", "'")):
        if match[group] is not None:
            return Attribute(name, start, name_end, match.start(group) + 1, end - 1, end, quote)
    if match["bare"] is not None:
        return Attribute(name, start, name_end, match.start("bare"), end, end, "")
    if match["equals"] is not None:
        return Attribute(name, start, name_end, end, end, end, "")
    return Attribute(name, start, name_end, name_end, name_end, name_end, None)


def decode_value(raw: str) -> str:
    """The value of an attribute from the way it is written: references resolved as attributes have them."""
    text = re.sub(r"\r\n?", "\n", raw)
    return _REFERENCE.sub(lambda match: _character(match, text), text) if "&" in text else text


def encode_value(value: str) -> str:
    """A value as it has to be written: only an ampersand that would begin a reference is escaped."""
    return _REFERENCE.sub(
        lambda match: match[0] if _character(match, value) == match[0] else f"&amp;{match[0][1:]}", value
    )


def _character(match: re.Match[str], text: str) -> str:
    if match[1] or match[3]:
        number = int(match[1] or match[3], 10 if match[1] else 16)
        return html5_number(number)
    name, mark = match[5], match[6]
    if mark and f"{name};" in html5:
        return html5[f"{name};"]
    for length in range(min(len(name), _LONGEST_LEGACY), 1, -1):
        if name[:length] in html5:
            rest = name[length:] + mark + text[match.end() : match.end() + 1]
            # `?a=1&copy=2` is no copyright sign in an attribute.
            is_literal = rest[:1] == "=" or (rest[:1].isascii() and rest[:1].isalnum())
            return match[0] if is_literal else html5[name[:length]] + name[length:] + mark
    return match[0]


def html5_number(number: int) -> str:
    """The character of a numeric reference."""
    if number in (0, *range(0xD800, 0xE000)) or number > 0x10FFFF:
        return "\ufffd"
    if 0x80 <= number <= 0x9F:
        return bytes([number]).decode("cp1252", "replace") if number not in _UNMAPPED else chr(number)
    return chr(number)


_UNMAPPED: Final = (0x81, 0x8D, 0x8F, 0x90, 0x9D)
