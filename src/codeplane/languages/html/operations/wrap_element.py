"""Puts an element around another one."""

from codeplane.languages.html.element_tree import Element, Text, has_template
from codeplane.languages.html.operations._done import loose_matches
from codeplane.languages.html.operations._lines import indent_lines, own_lines
from codeplane.languages.html.operations._page import (
    TEMPLATES,
    content_end,
    open_element,
    refuse_faults,
    refuse_letters,
)
from codeplane.languages.html.operations._shape import check_shape
from codeplane.languages.html.selectors import document_of
from codeplane.languages.html.tag_names import RAW_TEXT, VOID
from codeplane.languages.html.tokens import START, Scanner, Token
from codeplane.languages.operations import Argument, Arguments, Match, Outcome, Source, operation


def _start_tag(arguments: Arguments) -> Token | None:
    data = arguments.text("with").strip().encode()
    token = Scanner(data).next_token()
    return token if token is not None and token.kind == START and token.end == len(data) else None


def _argument_errors(arguments: Arguments) -> list[str]:
    tag = _start_tag(arguments)
    if tag is None:
        return ['`with` is one start tag, such as `<div class="x">`.']
    if tag.name.lower() in VOID | RAW_TEXT or tag.is_self_closing:
        return [f"`with`: `<{tag.name}>` can't hold an element."]
    if (
        has_template(tag, arguments.text("with").strip().encode())
        and arguments.optional("templates") != "ignore"
    ):
        return ["`with` holds template syntax."]
    return []


def _is_wrapped(source: Source, element: Element, arguments: Arguments) -> bool:
    """Whether an element is all that stands in an element like the one that goes around it."""
    parent, tag = element.parent, _start_tag(arguments)
    if parent is None or parent.tag is None or tag is None:
        return False
    others = [
        item
        for item in parent.children
        if item is not element and not (isinstance(item, Text) and item.is_blank)
    ]
    is_xml = document_of(source).is_xml
    wrapper = Element(parent.name, parent.namespace, tag, True)
    is_same = parent.tag.name.lower() == tag.name.lower() and wrapper.values(
        arguments.text("with").strip().encode(), is_xml
    ) == parent.values(source.data, is_xml)
    return is_same and not others


def _is_done(source: Source, selector: str, arguments: Arguments) -> bool:
    return any(_is_wrapped(source, element, arguments) for element in loose_matches(source, selector))


@operation(
    version=1,
    target="element",
    arguments=(
        Argument(
            "with", "text", 'The start tag of the new element, such as `<div class="x">`.', is_required=True
        ),
        TEMPLATES,
    ),
    check_arguments=_argument_errors,
    is_done=_is_done,
    check_result=check_shape,
)
def wrap_element(source: Source, match: Match, arguments: Arguments) -> Outcome:
    """Puts an element around another one; one that has its lines to itself is indented a level deeper."""
    document, element = open_element(source, match, arguments)
    if _is_wrapped(source, element, arguments):
        return Outcome()
    text, tag = arguments.text("with").strip(), _start_tag(arguments)
    assert tag is not None, "BUG: the tag was not checked"
    refuse_faults(source, document, element)
    refuse_letters(source, [text])
    lines = own_lines(source, document, element)
    if lines is None:
        end = content_end(source, element)
        return Outcome([source.insert(element.start, text), source.insert(end, f"</{tag.name}>")])
    newline, indent = source.newline_at(element.start), source.indent_at(element.start)
    first, *rest = indent_lines(source, document, element, lines)
    head = source.insert(element.start, f"{text}{newline}{indent}{first.new}")
    return Outcome([head, *rest, source.insert(lines.end, f"{newline}{indent}</{tag.name}>")])
