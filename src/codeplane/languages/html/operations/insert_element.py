"""Inserts an element beside another one, or into it."""

from codeplane.languages.html.element_tree import Document, Element, Text
from codeplane.languages.html.operations._done import loose_matches
from codeplane.languages.html.operations._lines import indent_unit, own_lines, reindent_fragment
from codeplane.languages.html.operations._page import (
    TEMPLATES,
    content_end,
    is_preserved,
    open_element,
    refuse_faults,
    refuse_letters,
)
from codeplane.languages.html.operations._shape import check_shape, edited_ranges, shapes_of
from codeplane.languages.html.selectors import document_of
from codeplane.languages.html.tag_names import PRESERVED, RAW_TEXT, VOID
from codeplane.languages.html.tree_builder import build_tree
from codeplane.languages.operations import (
    Argument,
    Arguments,
    Match,
    OperationRefused,
    Outcome,
    Source,
    operation,
)
from codeplane.languages.operations.operation import Change

_POSITIONS = ("before", "after", "first_child", "last_child")


def _argument_errors(arguments: Arguments) -> list[str]:
    data = arguments.text("html").strip().encode()
    document = build_tree(data)
    roots = document.root.children
    element = roots[0] if len(roots) == 1 and isinstance(roots[0], Element) else None
    if document.is_page or element is None or element.start != 0 or element.end != len(data):
        return ["`html` is one element, and nothing beside it."]
    if document.faults:
        return [f"`html`: {document.faults[0].reason}."]
    if element.end_tag is None and element.name not in VOID and not element.start_tag.is_self_closing:
        return [f"`html`: the end tag of `<{element.name}>` is missing."]
    if document.template_tag is not None and arguments.optional("templates") != "ignore":
        return ["`html` holds template syntax inside of a tag."]
    return []


def _check_result(change: Change) -> None:
    """Refuses an element that a browser would put elsewhere than it is asked for."""
    check_shape(change)
    old, new = shapes_of(change)
    ranges = edited_ranges(change.before, change.edits)[1]
    is_child = change.arguments.text("position").endswith("child")
    numbers = {id(element): number for number, element in enumerate(new.elements)}
    parents = []
    for match in change.matches:
        element = document_of(change.before).element_at(match.node.start_byte)
        holder = element if is_child or element is None else element.parent
        parents.append(next((n for n, item in enumerate(old.elements) if item is holder), -1))
    for element in document_of(change.after).elements:
        if not any(start <= element.start < end for start, end in ranges):
            continue
        parent = element.parent
        is_top = parent is None or parent.is_implied or id(parent) in numbers
        if is_top and numbers.get(id(parent), -1) not in parents:
            raise OperationRefused(f"A browser would put `<{element.name}>` elsewhere: it can't stand there.")


def _is_there(source: Source, element: Element, arguments: Arguments) -> bool:
    """Whether an element has the new one beside it, or is it."""
    text = _words(arguments.text("html"))
    position = arguments.text("position")
    if position.endswith("child"):
        inner = [item for item in element.children if not (isinstance(item, Text) and item.is_blank)]
        neighbour = inner[0 if position == "first_child" else -1] if inner else None
        return isinstance(neighbour, Element) and _is_text(source, neighbour, text)
    assert element.parent is not None, "BUG: an element without a place"
    siblings = element.parent.elements
    index = element.position + (1 if position == "after" else -1)
    nearby = [element, *(siblings[index : index + 1] if index >= 0 else [])]
    return any(_is_text(source, item, text) for item in nearby)


def _is_text(source: Source, element: Element, text: str) -> bool:
    return (
        element.tag is not None and _words(source.slice(element.start, content_end(source, element))) == text
    )


def _words(html: str) -> str:
    return " ".join(html.split())


def _is_done(source: Source, selector: str, arguments: Arguments) -> bool:
    return any(_is_there(source, element, arguments) for element in loose_matches(source, selector))


@operation(
    version=1,
    target="element",
    arguments=(
        Argument("html", "text", "The new element.", is_required=True),
        Argument("position", "choice", "Where it goes.", choices=_POSITIONS, default="after"),
        TEMPLATES,
    ),
    check_arguments=_argument_errors,
    is_done=_is_done,
    check_result=_check_result,
)
def insert_element(source: Source, match: Match, arguments: Arguments) -> Outcome:
    """Inserts an element beside another one, or as its first or last child, indented as its neighbours."""
    document, element = open_element(source, match, arguments)
    if _is_there(source, element, arguments):
        return Outcome()
    refuse_letters(source, [arguments.text("html")])
    position = arguments.text("position")
    if position == "before":
        return _insert_before(source, document, element, arguments.text("html"))
    refuse_faults(source, document, element)
    if position == "after":
        return _insert_after(source, document, element, arguments.text("html"))
    if element.is_html and element.name in VOID | RAW_TEXT:
        raise OperationRefused(f"`<{element.name}>` can't hold elements.")
    if element.start_tag.is_self_closing and element.end_tag is None and element.end == element.start_tag.end:
        raise OperationRefused(f"`<{element.name} />` has no content: write its end tag first.")
    return _insert_inside(source, element, arguments.text("html"), is_first=position == "first_child")


def _insert_before(source: Source, document: Document, element: Element, html: str) -> Outcome:
    lines = own_lines(source, document, element)
    indent = source.indent_at(element.start)
    text = reindent_fragment(source, html, indent, indent_unit(source, element))
    if lines is None:
        return Outcome([source.insert(element.start, text)])
    return Outcome([source.insert(lines.start, text + source.newline_at(element.start) + indent)])


def _insert_after(source: Source, document: Document, element: Element, html: str) -> Outcome:
    lines = own_lines(source, document, element)
    indent = source.indent_at(element.start)
    text = reindent_fragment(source, html, indent, indent_unit(source, element))
    if lines is None:
        return Outcome([source.insert(content_end(source, element), text)])
    return Outcome([source.insert(lines.end, source.newline_at(element.start) + indent + text)])


def _insert_inside(source: Source, element: Element, html: str, *, is_first: bool) -> Outcome:
    start = element.start_tag.end
    end = element.end_tag.start if element.end_tag else content_end(source, element)
    body = source.data[start:end]
    if is_preserved(element) or element.name in PRESERVED:
        # The first line ending of `pre` is not shown.
        lead = len(body) - len(body.removeprefix(b"\r\n").removeprefix(b"\n"))
        return Outcome([source.insert(start + lead if is_first else end, html.strip())])
    newline, indent = source.newline_at(start), _child_indent(source, element, is_first)
    text = reindent_fragment(source, html, indent, indent_unit(source, element))
    has_lines = _has_lines(body, is_first, is_closed=element.end_tag is not None)
    if not body.strip() and (b"\n" in body or ("\n" in text and source.is_first_in_line(element.start))):
        rest = "" if b"\n" in body else newline + source.indent_at(element.start)
        return Outcome([source.insert(start, f"{newline}{indent}{text}{rest}")])
    if not has_lines:
        return Outcome([source.insert(start if is_first else end, text)])
    offset = start if is_first else start + len(body.rstrip(b" \t\r\n\f"))
    return Outcome([source.insert(offset, f"{newline}{indent}{text}")])


def _has_lines(body: bytes, is_first: bool, *, is_closed: bool) -> bool:
    """Whether the content begins, or ends, on a line of its own."""
    edge = body[: len(body) - len(body.lstrip())] if is_first else body[len(body.rstrip()) :]
    return b"\n" in edge or (not is_closed and not is_first and b"\n" in body)


def _child_indent(source: Source, element: Element, is_first: bool) -> str:
    children = [item for item in element.elements if item.tag and source.is_first_in_line(item.start)]
    inside = [item for item in children if item.start > element.start]
    if inside:
        return source.indent_at(inside[0 if is_first else -1].start)
    return source.indent_at(element.start) + indent_unit(source, element)
