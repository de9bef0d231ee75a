"""Texts as a file has to take them, and what differs between a file and its bytes afterwards."""

from codeplane.core.edits import TextEdit
from codeplane.languages.operations.reparsing import common_ends
from codeplane.languages.operations.source import Source


def with_newlines(source: Source, offset: int, text: str, indent: str = "") -> str:
    """A text of several lines with the line ending of a place in the file, lines after the first indented."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return source.newline_at(offset).join([lines[0], *(indent + line for line in lines[1:])])


def difference(source: Source, after: bytes) -> list[TextEdit]:
    """One edit for all that differs between a file and its bytes afterwards; none where they are the same."""
    before = source.data
    if before == after:
        return []
    start, end = common_ends(before, after)
    # A letter of several bytes is replaced as a whole.
    while start and _is_continuation(before, start):
        start -= 1
    while end and _is_continuation(before, len(before) - end):
        end -= 1
    new = after[start : len(after) - end].decode("utf-8", "surrogateescape")
    return [source.replace(start, len(before) - end, new)]


def _is_continuation(data: bytes, offset: int) -> bool:
    return offset < len(data) and data[offset] & 0xC0 == 0x80
