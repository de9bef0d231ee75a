"""Edits of the attributes of one tag."""

import re
from typing import Final

from codeplane.core.edits import TextEdit
from codeplane.languages.html.element_tree import Document, Element
from codeplane.languages.html.tokens import Attribute, decode_value, encode_value
from codeplane.languages.operations import Arguments, Source

_BARE: Final = re.compile(r"""[^ \t\n\f\r"'=<>`/]+""")
_NAME: Final = re.compile(r"""[^\x00-\x20\x7f-\x9f"'>/={}<]+""")
_TOKEN: Final = re.compile(rb"[^ \t\n\f\r]+")


def name_errors(name: str) -> list[str]:
    """Why a text can't be the name of an attribute."""
    if _NAME.fullmatch(name):
        return []
    return [f"`name`: {name[:60]!r} is not the name of an attribute."]


def token_errors(arguments: Arguments) -> list[str]:
    """Why a value can't be one token of a list."""
    if not arguments.flag("token"):
        return []
    value = arguments.optional("value")
    if value is None or not _TOKEN.fullmatch(value.encode()):
        return ["`value` has to be one token without white space where `token` is set."]
    return []


def value_of(source: Source, attribute: Attribute) -> str:
    """The value of an attribute, references resolved."""
    return decode_value(source.slice(attribute.value_start, attribute.value_end))


def write_value(source: Source, value: str, quote: str) -> tuple[str, str]:
    """A value as it is written, and its quotes: those that are asked for, where the value allows it."""
    text = encode_value(re.sub(r"\r\n?", "\n", value)).replace("\n", source.newline)
    if not quote and _BARE.fullmatch(text):
        return text, ""
    quote = quote or '"'
    if quote not in text:
        return text, quote
    other = "'" if quote == '"' else '"'
    if other not in text:
        return text, other
    return text.replace(quote, "&quot;" if quote == '"' else "&#39;"), quote


def set_value(source: Source, attribute: Attribute, value: str | None) -> list[TextEdit]:
    """Gives an attribute another value, in the quotes that it has."""
    if value is None:
        return [source.delete(attribute.name_end, attribute.end)]
    if attribute.quote is None:
        text, quote = write_value(source, value, '"')
        return [source.insert(attribute.name_end, f"={quote}{text}{quote}")]
    text, quote = write_value(source, value, attribute.quote)
    if quote == attribute.quote:
        return [source.replace(attribute.value_start, attribute.value_end, text)]
    outer = len(attribute.quote)
    return [
        source.replace(attribute.value_start - outer, attribute.value_end + outer, f"{quote}{text}{quote}")
    ]


def add_attribute(
    source: Source, document: Document, element: Element, name: str, value: str | None
) -> list[TextEdit]:
    """Adds an attribute after the others: on a line of its own where the last one has that."""
    tag = element.start_tag
    position, separator = tag.name_end, " "
    if tag.attributes:
        last = tag.attributes[-1]
        position = last.end
        if source.is_first_in_line(last.start):
            separator = source.newline_at(tag.start) + source.slice(source.line_start(last.start), last.start)
        if last.quote == "" and last.value_start == last.value_end:
            separator = f'""{separator}'  # `a=` would take what comes next for its value
    if value is None:
        return [source.insert(position, f"{separator}{name}")]
    text, quote = write_value(source, value, _quote_of(document, element))
    if not quote and source.data[position : position + 1] == b"/":
        quote = '"'
    return [source.insert(position, f"{separator}{name}={quote}{text}{quote}")]


def _quote_of(document: Document, element: Element) -> str:
    own = [item.quote for item in element.start_tag.attributes if item.quote is not None]
    return own[-1] if own else document.quote


def remove_attribute_text(source: Source, element: Element, attribute: Attribute) -> TextEdit:
    """Removes an attribute with the white space before it, unless that has to keep others apart."""
    start = attribute.start
    while source.data[start - 1 : start] in (b" ", b"\t", b"\n", b"\r", b"\f"):
        start -= 1
    following = source.data[attribute.end : attribute.end + 1]
    attributes = element.start_tag.attributes
    index = attributes.index(attribute)
    is_after_bare = index > 0 and attributes[index - 1].quote == ""
    if following not in (b" ", b"\t", b"\n", b"\r", b"\f", b">", b"/") or (
        following == b"/" and is_after_bare
    ):
        start = attribute.start
    return source.delete(start, attribute.end)


def add_token(source: Source, attribute: Attribute, token: str) -> list[TextEdit]:
    """Adds a token to the end of a list, separated as the last two are."""
    raw = source.data[attribute.value_start : attribute.value_end]
    places = list(_TOKEN.finditer(raw))
    text = encode_value(token)
    if not places or not attribute.quote:
        old = source.slice(attribute.value_start, attribute.value_end)
        return set_value(source, attribute, f"{decode_value(old)} {token}" if places else token)
    if attribute.quote in text:
        text = text.replace(attribute.quote, "&quot;" if attribute.quote == '"' else "&#39;")
    between = raw[places[-2].end() : places[-1].start()] if len(places) > 1 else b" "
    separator = between.decode() if b"\n" in between else " "
    return [source.insert(attribute.value_start + places[-1].end(), separator + text)]


def remove_token(source: Source, element: Element, attribute: Attribute, token: str) -> list[TextEdit]:
    """Removes a token from a list; the attribute goes with the last one."""
    raw = source.data[attribute.value_start : attribute.value_end]
    places = list(_TOKEN.finditer(raw))
    is_token = [decode_value(item[0].decode("utf-8", "surrogateescape")) == token for item in places]
    if not any(is_token):
        return []
    if all(is_token):
        return [remove_attribute_text(source, element, attribute)]
    edits = []
    for index, place in enumerate(places):
        if not is_token[index]:
            continue
        is_leading = not any(not item for item in is_token[:index])
        start = place.start() if is_leading else places[index - 1].end()
        end = places[index + 1].start() if is_leading else place.end()
        edits.append(source.delete(attribute.value_start + start, attribute.value_start + end))
    return edits
