"""Where elements stand in the lines of a file, and the indentation of what is put beside them."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final, NamedTuple

from codeplane.core.edits import TextEdit
from codeplane.languages.html.element_tree import Document, Element
from codeplane.languages.html.operations._page import content_end, is_preserved
from codeplane.languages.html.tag_names import PRESERVED, RAW_TEXT
from codeplane.languages.html.tokens import Token
from codeplane.languages.html.tree_builder import build_tree
from codeplane.languages.operations import Source

_SPACES: Final = re.compile(rb"[ \t]*")
# Comments of browsers and servers that say something of their own place.
_CONDITIONAL: Final = re.compile(rb"<!--(?:\[if|\s*<?!\[endif|#)|<!\[|(?!<!--)", re.IGNORECASE)


class Lines(NamedTuple):
    """An element that has its lines to itself, with the comments that belong to it."""

    start: int  # of the comment above, or of the element
    end: int  # of the comment behind it, or of the element
    element_start: int
    element_end: int


def own_lines(source: Source, document: Document, element: Element) -> Lines | None:
    """The lines of an element that shares them with nothing but its own comments."""
    start, element_end = element.start, content_end(source, element)
    end = _end_with_comments(source, document, element_end)
    if is_preserved(element) or not (source.is_first_in_line(start) and source.is_last_in_line(end)):
        return None
    return Lines(_start_with_comments(source, document, start), end, start, element_end)


def _end_with_comments(source: Source, document: Document, end: int) -> int:
    """A comment behind an element in its line belongs to it."""
    while comment := document.comment_after(end):
        gap = _SPACES.match(source.data, end)
        if gap is None or gap.end() != comment.start or not _is_owned(source, comment):
            break
        if source.line_of(comment.start) != source.line_of(comment.end):
            break
        end = comment.end
    return end


def _start_with_comments(source: Source, document: Document, start: int) -> int:
    """A comment on lines of its own directly above an element belongs to it."""
    while comment := document.comment_before(source.line_start(start)):
        is_above = source.line_of(comment.end) == source.line_of(start) - 1
        is_alone = source.is_first_in_line(comment.start) and source.is_last_in_line(comment.end)
        if not (is_above and is_alone and _is_owned(source, comment)):
            break
        start = comment.start
    return start


def _is_owned(source: Source, comment: Token) -> bool:
    return not _CONDITIONAL.match(source.data, comment.start)


def fixed_ranges(document: Document, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The bytes in which white space means something: raw text, comments, values, `pre`."""
    for element in document.elements[bisect_left(document.elements, start, key=lambda item: item.start) :]:
        if element.start >= end:
            break
        if element.is_html and element.name in RAW_TEXT | PRESERVED:
            yield element.start_tag.end, element.end_tag.start if element.end_tag else element.end
    for token in (*document.comments, *document.islands):
        if start <= token.start < end:
            yield token.start + 1, token.end - 1
    for tag in document.tags:
        if start <= tag.start < end:
            yield from ((item.value_start, item.value_end) for item in tag.attributes if item.quote)


def movable_lines(document: Document, start: int, end: int) -> list[int]:
    """The first bytes of the lines after the first one that can be indented anew."""
    untouchable = list(fixed_ranges(document, start, end))
    lines = []
    for match in re.finditer(rb"\n(?=[^\r\n])", document.data[start:end]):
        offset = start + match.end()
        is_blank = not document.data[offset : offset + 1].strip() and re.match(
            rb"[ \t]*(?:\r?\n|\Z)", document.data[offset:end]
        )
        if not is_blank and not any(first <= offset <= last for first, last in untouchable):
            lines.append(offset)
    return lines


def indent_unit(source: Source, element: Element) -> str:
    """One level of indentation, by the elements around it and inside of it: raw text has its own."""
    own = source.indent_at(element.start)
    outer = [
        source.indent_at(item.start)
        for item in element.ancestors()
        if item.tag and item.start < element.start
    ]
    inner = [
        source.indent_at(item.start) for item in element.elements if item.tag and item.start > element.start
    ]
    for shorter, longer in [*((text, own) for text in outer), *((own, text) for text in inner)]:
        if longer.startswith(shorter) and len(longer) > len(shorter):
            return longer.removeprefix(shorter)
    return source.indent_unit


def indent_lines(source: Source, document: Document, element: Element, lines: Lines) -> list[TextEdit]:
    """Indents the lines of an element one level deeper."""
    unit = indent_unit(source, element)
    offsets = [source.line_start(lines.element_start)]
    offsets += movable_lines(document, lines.element_start, lines.end)
    return [source.insert(offset, unit) for offset in offsets]


def reindent_fragment(source: Source, html: str, indent: str, unit: str) -> str:
    """A piece of HTML of several lines as it is written at an indentation of the file."""
    text = re.sub(r"\r\n?", "\n", html.strip())
    if "\n" not in text:
        return text
    document = build_tree(text.encode())
    movable = set(movable_lines(document, 0, len(document.data)))
    lines = text.split("\n")
    widths = [len(line) - len(line.lstrip(" \t")) for line in lines]
    offsets = _line_offsets(text)
    indexes = [index for index in range(1, len(lines)) if offsets[index] in movable]
    # The last line closes the element: it stands where the first one does.
    base = min((widths[index] for index in indexes), default=0)
    levels = [widths[index] - base for index in indexes if widths[index] > base]
    step = min(levels, default=0)
    for index in indexes:
        width, rest = widths[index] - base, lines[index].lstrip(" \t")
        is_level = step and width % step == 0
        inner = unit * (width // step) if is_level else lines[index][base : widths[index]]
        lines[index] = indent + inner + rest
    return source.newline.join(lines)


def _line_offsets(text: str) -> list[int]:
    offsets, position = [], 0
    for line in text.split("\n"):
        offsets.append(position)
        position += len(line.encode()) + 1
    return offsets
