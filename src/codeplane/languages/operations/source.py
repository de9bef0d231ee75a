"""One file as an operation sees it: its bytes, the tree of exactly these bytes, its lines and its style."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import accumulate
from typing import Final

from tree_sitter import Node, Tree

from codeplane.core.edits import TextEdit
from codeplane.languages.operations.reparsing import reparse
from codeplane.languages.query import parser_of, readable

BOM: Final = b"\xef\xbb\xbf"
_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_INDENT: Final = re.compile(rb"[ \t\f]*")
_INDENTED: Final = re.compile(rb"^(\t+|  +)(?=\S)", re.MULTILINE)


def _has_none(_: str) -> bool:
    return False


class Source:
    """The bytes of a file with the syntax tree of exactly these bytes."""

    def __init__(
        self,
        language: str,
        data: bytes,
        path: str = "",
        has_file: Callable[[str], bool] = _has_none,
        earlier: "Source | None" = None,
    ) -> None:
        """`has_file` says whether the repository has a file at a path; `earlier` is the file before it."""
        self.language = language
        self.data = data
        self.path = path  # relative to the repository; its ending may decide what is legal
        self.has_file = has_file
        self.tree: Tree = self._parse(earlier)

    def _parse(self, earlier: "Source | None") -> Tree:
        data = readable(self.language, self.data)
        if earlier is None or earlier.language != self.language:
            return parser_of(self.language).parse(data)
        return reparse(self.language, readable(self.language, earlier.data), earlier.tree, data)

    @property
    def root(self) -> Node:
        """The root of the tree."""
        return self.tree.root_node

    def text(self, node: Node) -> str:
        """The text of a node as it stands in the file."""
        return self.slice(node.start_byte, node.end_byte)

    def slice(self, start: int, end: int) -> str:
        """The text between two bytes; bytes that are no UTF-8 are kept as surrogates."""
        return self.data[start:end].decode("utf-8", "surrogateescape")

    @cached_property
    def newline(self) -> str:
        """The line ending that most lines of the file have."""
        endings = Counter(_LINE_END.findall(self.data))
        return endings.most_common(1)[0][0].decode() if endings else "\n"

    def newline_at(self, offset: int) -> str:
        """The ending of the line that a byte is in, or that of the line before where it has none."""
        is_inside = offset and self.data[offset - 1 : offset + 1] == b"\r\n"
        match = _LINE_END.search(self.data, offset - 1 if is_inside else offset)
        if match is None:
            before = _LINE_END.findall(self.data, 0, offset)
            return before[-1].decode() if before else self.newline
        return match[0].decode()

    @cached_property
    def _line_starts(self) -> list[int]:
        # As the rest of CodePlane counts lines: `\n` ends one, a lone `\r` does not.
        *lines, _ = self.data.split(b"\n")
        return [0, *accumulate(len(line) + 1 for line in lines)]

    def line_of(self, offset: int) -> int:
        """The number of the line that a byte is in, from one."""
        return bisect_right(self._line_starts, offset)

    def line_offset(self, line: int) -> int:
        """The first byte of a line by its number, from one."""
        return self._line_starts[line - 1]

    def line_start(self, offset: int) -> int:
        """The first byte of the line that a byte is in."""
        return self._line_starts[self.line_of(offset) - 1]

    def line_end(self, offset: int) -> int:
        """The byte at which the line ends, before its line ending."""
        match = _LINE_END.search(self.data, offset)
        return match.start() if match else len(self.data)

    def next_line(self, offset: int) -> int:
        """The first byte of the line after the one that a byte is in, or the end of the file."""
        match = _LINE_END.search(self.data, offset)
        return match.end() if match else len(self.data)

    def indent_at(self, offset: int) -> str:
        """The white space that begins the line that a byte is in."""
        start = self.line_start(offset)
        if start == 0 and self.data.startswith(BOM):
            start = len(BOM)
        match = _INDENT.match(self.data, start)
        return match[0].decode() if match else ""

    def is_first_in_line(self, offset: int) -> bool:
        """Whether nothing but white space stands before a byte in its line."""
        return self.data[self.line_start(offset) : offset].removeprefix(BOM).strip() == b""

    def is_last_in_line(self, offset: int) -> bool:
        """Whether nothing but white space stands in the line from a byte on."""
        return self.data[offset : self.line_end(offset)].strip() == b""

    @cached_property
    def indent_unit(self) -> str:
        """What one level of indentation is in this file; four spaces where nothing is indented."""
        widths = Counter(match[1] for match in _INDENTED.finditer(self.data[: 1 << 18]))
        if sum(count for text, count in widths.items() if text.startswith(b"\t")) * 2 > widths.total():
            return "\t"
        spaces = [len(text) for text, count in widths.items() if text.startswith(b" ") and count]
        return " " * (2 if any(width % 4 for width in spaces) and min(spaces) == 2 else 4)

    def replace(self, start: int, end: int, new: str) -> TextEdit:
        """An edit that puts a text in the place of the bytes from `start` to `end`."""
        if not 0 <= start <= end <= len(self.data):
            raise AssertionError(f"BUG: an edit of bytes {start} to {end} of {len(self.data)}")
        line = self.line_of(start)
        return TextEdit(line, start - self._line_starts[line - 1], self.slice(start, end), new)

    def insert(self, offset: int, new: str) -> TextEdit:
        """An edit that inserts a text before a byte."""
        return self.replace(offset, offset, new)

    def delete(self, start: int, end: int) -> TextEdit:
        """An edit that removes the bytes from `start` to `end`."""
        return self.replace(start, end, "")

    def span_of(self, edit: TextEdit) -> tuple[int, int]:
        """The bytes that an edit of this file replaces."""
        start = self._line_starts[edit.line - 1] + edit.column
        return start, start + len(_encoded(edit.old))

    def apply(self, edits: Iterable[TextEdit]) -> bytes:
        """The bytes after a batch of edits. Equal ones count once; those that overlap are an error."""
        batch = sorted({(*self.span_of(edit), edit.new, edit.old) for edit in edits})
        parts, last, last_start = [], 0, -1
        for start, end, new, old in batch:
            if start < last or (start == last_start and start == end):
                raise OverlappingEdits(self.line_of(start))
            if self.data[start:end] != _encoded(old):
                raise AssertionError(f"BUG: line {self.line_of(start)} does not hold what is replaced there")
            parts += [self.data[last:start], _encoded(new)]
            last, last_start = end, start
        return b"".join((*parts, self.data[last:]))


class OverlappingEdits(Exception):
    """Two edits of one batch want the same bytes."""

    def __init__(self, line: int) -> None:
        super().__init__(f"Two edits overlap at line {line}.")
        self.line = line


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
