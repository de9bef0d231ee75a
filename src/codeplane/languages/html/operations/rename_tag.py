"""Gives an element another tag name."""

import re
from typing import Final

from codeplane.languages.html.element_tree import Element
from codeplane.languages.html.operations._done import renamed_matches
from codeplane.languages.html.operations._page import TEMPLATES, open_element, refuse_faults
from codeplane.languages.html.operations._shape import check_shape
from codeplane.languages.html.tag_names import CELLS, RAW_TEXT, SECTIONS, VOID
from codeplane.languages.operations import (
    Argument,
    Arguments,
    Match,
    OperationRefused,
    Outcome,
    Source,
    operation,
)

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9._:-]*")
_PAGE: Final = frozenset(("html", "head", "body", "frameset", "template", "svg", "math"))
# Elements of a group are closed by the same tags.
_GROUPS: Final = (CELLS, SECTIONS, frozenset(("dt", "dd")), frozenset(("rt", "rp")))


def _argument_errors(arguments: Arguments) -> list[str]:
    name = arguments.text("to")
    return [] if _NAME.fullmatch(name) else [f"`to`: {name[:60]!r} is not the name of a tag."]


def _is_done(source: Source, selector: str, arguments: Arguments) -> bool:
    return bool(renamed_matches(source, selector, arguments.text("to")))


@operation(
    version=1,
    target="element",
    arguments=(Argument("to", "text", "The new name of the tag.", is_required=True), TEMPLATES),
    check_arguments=_argument_errors,
    is_done=_is_done,
    check_result=check_shape,
)
def rename_tag(source: Source, match: Match, arguments: Arguments) -> Outcome:
    """Gives an element another tag name, in its start tag and its end tag."""
    document, element = open_element(source, match, arguments)
    to = arguments.text("to")
    if element.start_tag.name == to or (element.is_html and element.name == to.lower()):
        return Outcome()
    refuse_faults(source, document, element)
    if not document.is_xml:
        _refuse_other_kind(element, to.lower())
    tags = [element.start_tag, *([element.end_tag] if element.end_tag else [])]
    return Outcome([source.replace(tag.name_start, tag.name_end, to) for tag in tags])


def _refuse_other_kind(element: Element, to: str) -> None:
    name = element.name
    for each in (name, to):
        if element.is_html and each in RAW_TEXT:
            raise OperationRefused(
                f"The content of `<{each}>` is raw text: another name would change how it is read."
            )
        if each in _PAGE and element.is_html:
            raise OperationRefused(f"`<{each}>` has its own place in a page: it can't be renamed to or from.")
    if element.is_html and (name in VOID) != (to in VOID):
        void = name if name in VOID else to
        raise OperationRefused(f"`<{void}>` never has an end tag, and the other element has one.")
    is_open = element.end_tag is None and name not in VOID and not element.start_tag.is_self_closing
    if is_open and not any(name in group and to in group for group in _GROUPS):
        raise OperationRefused(
            f"The end tag of `<{name}>` is left out, and `<{to}>` needs one. Write it first."
        )
