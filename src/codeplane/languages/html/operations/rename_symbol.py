"""Renames an id of an element with what refers to it in the file."""

import re
from collections.abc import Iterator
from typing import Final

from codeplane.core.edits import TextEdit
from codeplane.languages.html.element_tree import Document
from codeplane.languages.html.operations._attributes import set_value, value_of
from codeplane.languages.html.operations._page import TEMPLATES, open_element, refuse_letters
from codeplane.languages.html.operations._shape import check_shape
from codeplane.languages.html.selectors import document_of
from codeplane.languages.html.tokens import Attribute
from codeplane.languages.operations import (
    Argument,
    Arguments,
    Match,
    OperationRefused,
    Outcome,
    Source,
    operation,
)

# Attributes whose value is an id, or a list of ids.
_IDS: Final = frozenset(
    "for form list headers itemref popovertarget commandfor contextmenu aria-activedescendant aria-controls "
    "aria-describedby aria-details aria-errormessage aria-flowto aria-labelledby aria-owns".split()
)
_LINKS: Final = frozenset(("href", "xlink:href"))
_ID: Final = re.compile(r"[^\s\"'<>=&{}]+")


def _argument_errors(arguments: Arguments) -> list[str]:
    name = arguments.text("to")
    return [] if _ID.fullmatch(name) else [f"`to`: {name[:60]!r} is not an id."]


def _is_done(source: Source, target: str, arguments: Arguments) -> bool:
    ids = _ids_of(document_of(source))
    name = re.sub(r"^#", "", re.split(r"[./]", target)[-1])
    return arguments.text("to") in ids and name not in ids


def _ids_of(document: Document) -> list[str]:
    values = (item.values(document.data, document.is_xml) for item in document.elements)
    return [item["id"] for item in values if "id" in item]


@operation(
    version=1,
    target="definition",
    arguments=(Argument("to", "text", "The new id.", is_required=True), TEMPLATES),
    check_arguments=_argument_errors,
    is_done=_is_done,
    check_result=check_shape,
)
def rename_symbol(source: Source, match: Match, arguments: Arguments) -> Outcome:
    """Renames the id of an element, and the labels, links and descriptions of the file that refer to it."""
    document, element = open_element(source, match, arguments)
    own, to = element.attribute("id"), arguments.text("to")
    if own is None:
        raise OperationRefused("The element has no id.", match.node)
    name, ids = value_of(source, own), _ids_of(document)
    if name == to:
        return Outcome()
    if ids.count(name) > 1:
        raise OperationRefused(f"The id `{name}` is there twice: what refers to which is not clear.")
    if to in ids:
        raise OperationRefused(f"The id `{to}` is there already.")
    refuse_letters(source, [to])
    _refuse_code(source, document, name)
    edits = set_value(source, own, to)
    if element.name == "a" and (anchor := element.attribute("name")) and value_of(source, anchor) == name:
        edits += set_value(source, anchor, to)
    for reference in _references(document):
        edits += _reference_edits(source, reference, name, to)
    return Outcome(edits)


def _references(document: Document) -> Iterator[Attribute]:
    for element in document.elements:
        for item in element.start_tag.attributes:
            if item.name in _IDS or item.name in _LINKS or _has_url(document, item):
                yield item


def _has_url(document: Document, attribute: Attribute) -> bool:
    return b"url(" in document.data[attribute.value_start : attribute.value_end]


def _reference_edits(source: Source, attribute: Attribute, name: str, to: str) -> list[TextEdit]:
    value = value_of(source, attribute)
    if attribute.name in _IDS:
        pattern = rf"(?<!\S){re.escape(name)}(?!\S)"
    elif attribute.name in _LINKS:
        pattern = rf"(?<=\A#){re.escape(name)}\Z"
    else:
        pattern = rf"(?<=url\(#){re.escape(name)}(?=\))"
    new = re.sub(pattern, lambda _: to, value)
    return set_value(source, attribute, new) if new != value else []


def _refuse_code(source: Source, document: Document, name: str) -> None:
    """Refuses an id that scripts and styles of the file name: they are not edited."""
    word = re.escape(name.encode("utf-8", "surrogateescape"))
    pattern = re.compile(rb"#" + word + rb"(?![\w-])|([\"'`])#?" + word + rb"\1")
    for start, end in _code_of(document):
        if place := pattern.search(source.data, start, end):
            line = source.line_of(place.start())
            raise OperationRefused(
                f"Line {line} names the id in code, which is not edited: rename it there first."
            )


def _code_of(document: Document) -> Iterator[tuple[int, int]]:
    for element in document.elements:
        if element.name in ("script", "style"):
            yield element.start_tag.end, element.end
        yield from (
            (item.value_start, item.value_end)
            for item in element.start_tag.attributes
            if item.name.startswith("on") or item.name in ("data-target", "data-bs-target")
        )
