"""What all operations on HTML ask of a file before they edit it."""

import re
from collections.abc import Sequence
from typing import Final

from codeplane.languages.html.element_tree import Document, Element, has_template
from codeplane.languages.html.selectors import document_of
from codeplane.languages.html.tag_names import OPTIONAL_END, PRESERVED
from codeplane.languages.html.tokens import START, Token
from codeplane.languages.operations import Argument, Arguments, Match, OperationRefused, Source

TEMPLATES: Final = Argument(
    "templates",
    "choice",
    "What to do where tags hold template syntax such as `{{ x }}`: `refuse`, or `ignore` it.",
    choices=("refuse", "ignore"),
    default="refuse",
)
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f\x7f]")
_CHARSET: Final = re.compile(rb"""<meta\s[^>]*charset\s*=\s*["']?\s*([A-Za-z0-9_:.-]+)""", re.IGNORECASE)
# `{% if %}` of Jinja and Django, `{{#if}}` of Handlebars, `{{ if }}` of Go.
_BLOCK: Final = re.compile(
    rb"\{%[-+]?\s*(?:(?P<end>end\w*)|(?P<other>else|elif|elsif|empty)|(?P<name>\w+))"
    rb"|\{\{[-~]?\s*(?:(?P<end2>/|end\b)|(?P<other2>else\b)|(?P<open>#|(?:if|range|with|block|define)\s))"
)
_EXPRESSION: Final = re.compile(rb"\{\{|\{%|\}\}|%\}")


def open_element(source: Source, match: Match, arguments: Arguments) -> tuple[Document, Element]:
    """The element of a match, in a file that can be edited."""
    document = document_of(source)
    if control := _CONTROL.search(source.data):
        line = source.line_of(control.start())
        raise OperationRefused(
            f"Line {line} has a null byte or another control character: this is no HTML file."
        )
    element = document.element_at(match.node.start_byte)
    if element is None:
        raise OperationRefused("The grammar could not read the tag of this element.", match.node)
    _refuse_templates(source, document, element, arguments)
    return document, element


def _refuse_templates(source: Source, document: Document, element: Element, arguments: Arguments) -> None:
    is_ignored = arguments.optional("templates") == "ignore"
    if document.template_tag is not None and not is_ignored:
        line = source.line_of(document.template_tag.start)
        raise OperationRefused(
            f"The tag at line {line} holds template syntax. "
            'Send `templates: "ignore"` if the edit is safe there.'
        )
    own_tags = [tag for tag in (element.tag, element.end_tag) if tag is not None]
    if any(_has_loose_template(source, tag) for tag in own_tags):
        raise OperationRefused("The tag itself is partly written by a template: edit it as text.")
    if not is_ignored and _is_in_expression(source, element.start):
        line = source.line_of(element.start)
        raise OperationRefused(
            f"Line {line} has the tag inside of a template expression. "
            'Send `templates: "ignore"` if it is text.'
        )


def _has_loose_template(source: Source, tag: Token) -> bool:
    """Whether template syntax stands in a tag outside of a quoted value, or goes across the end of one."""
    if not has_template(tag, source.data):
        return False
    start = tag.start
    rest = bytearray(source.data[start : tag.end])
    for item in tag.attributes:
        if item.quote:
            value = source.data[item.value_start : item.value_end]
            is_whole = value.count(b"{{") <= value.count(b"}}") and value.count(b"{%") == value.count(b"%}")
            if is_whole:
                rest[item.value_start - start : item.value_end - start] = b" " * len(value)
    return re.search(rb"\{|\}|<[?%]|%>", rest[1:]) is not None


def _is_in_expression(source: Source, offset: int) -> bool:
    """Whether a tag is part of `{{ "<b>" }}` in its line."""
    before = source.data[source.line_start(offset) : offset]
    openers = [match[0] for match in _EXPRESSION.finditer(before)]
    if not openers or openers[-1] not in (b"{{", b"{%"):
        return False
    closer = b"}}" if openers[-1] == b"{{" else b"%}"
    return closer in source.data[offset : source.line_end(offset)]


def refuse_faults(source: Source, document: Document, element: Element) -> None:
    """Refuses an element whose tags are not those of the tree: one that is open, a stray end tag inside."""
    fault = document.fault_between(element.start, element.end)
    if fault is not None:
        line = source.line_of(fault.offset)
        raise OperationRefused(f"Where the element ends is not clear: at line {line}, {fault.reason}.")
    for outer in element.ancestors():
        if outer.name == element.name and outer.end_tag is None and outer.name not in OPTIONAL_END:
            reason = f"`<{outer.name}>` around it is not closed"
            raise OperationRefused(f"Where the element ends is not clear: {reason}.")
    _refuse_split_blocks(source, element)


def _refuse_split_blocks(source: Source, element: Element) -> None:
    """Refuses an element that holds one end of a block of a template, and not the other."""
    depth = 0
    for match in _BLOCK.finditer(source.data, element.start, element.end):
        is_branch = match["other"] or match["other2"]
        if match["end"] or match["end2"]:
            depth -= 1
        elif match["open"] or (match["name"] and _has_end(source, match["name"])):
            depth += 1
        if depth < 0 or (is_branch and depth == 0):
            break
    else:
        if depth == 0:
            return
    raise OperationRefused("A block of a template begins or ends inside of the element: edit it as text.")


def _has_end(source: Source, name: bytes) -> bool:
    return re.search(rb"\{%[-+]?\s*end" + re.escape(name) + rb"\b", source.data) is not None


def refuse_letters(source: Source, texts: Sequence[str]) -> None:
    """Refuses letters beyond ASCII in a file that is not written in UTF-8."""
    if all(text.isascii() for text in texts):
        return
    charset = _CHARSET.search(source.data[:4096])
    if charset and charset[1].lower().replace(b"-", b"") != b"utf8":
        name = charset[1].decode()
        raise OperationRefused(f"The file declares the encoding {name}: write other letters as references.")
    try:
        source.data.decode()
    except UnicodeDecodeError:
        raise OperationRefused("The file is not UTF-8: write letters beyond ASCII as references.") from None


def duplicate_notes(source: Source, document: Document, element: Element, name: str) -> list[str]:
    """Notes where an attribute or the tag of a page is written twice: only the first attribute counts."""
    places = [item for item in element.start_tag.attributes if item.name == name.lower()]
    lines = [source.line_of(item.start) for item in places[1:2]]
    notes = [f"Line {line} has `{name}` a second time, which has no effect." for line in lines]
    if element.name in ("html", "body"):
        tags = [tag for tag in document.tags if tag.kind == START and tag.name.lower() == element.name]
        more = [source.line_of(tag.start) for tag in tags if tag.start > element.start]
        notes += [
            f"Browsers add the attributes of the `<{element.name}>` at line {line} to it." for line in more
        ]
    return notes


def content_end(source: Source, element: Element) -> int:
    """Where an element ends; without the white space after it where its end tag is left out."""
    if element.end_tag is not None:
        return element.end
    return element.start + len(source.data[element.start : element.end].rstrip(b" \t\n\f\r"))


def is_preserved(element: Element) -> bool:
    """Whether white space is shown as it stands where an element is."""
    return any(item.name in PRESERVED for item in element.ancestors())
