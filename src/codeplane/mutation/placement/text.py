"""The text of a file as an edit sees it: lines by their bytes, so that no other byte moves."""

from bisect import bisect_right
from functools import cached_property
from itertools import accumulate
from typing import Final

from codeplane.core.errors import EditRefused
from codeplane.core.text import lines_of

_BOM: Final = b"\xef\xbb\xbf"
_WIDE: Final = (b"\xff\xfe", b"\xfe\xff")


class Text:
    """What a file holds. Lines are counted from 1; a line end belongs to its line."""

    def __init__(self, data: bytes, path: str) -> None:
        """`path` is what messages call the file."""
        self.data = data
        self.path = path
        if data.startswith(_WIDE):
            raise _unreadable_error(path, "is UTF-16")
        if b"\0" in data:
            raise _unreadable_error(path, "is binary")
        self._first = len(_BOM) if data.startswith(_BOM) else 0

    @cached_property
    def is_utf8(self) -> bool:
        try:
            self.data.decode("utf-8")
        except UnicodeDecodeError:
            return False
        return True

    @cached_property
    def starts(self) -> list[int]:
        """Where each line begins."""
        *full_lines, _ = self.data.split(b"\n")
        starts = [self._first, *accumulate(len(line) + 1 for line in full_lines)]
        if starts[-1] >= len(self.data):
            starts.pop()
        return starts

    @cached_property
    def lines(self) -> list[str]:
        """The lines as they are shown to a reader, without their ends."""
        return lines_of(self.data[self._first :])

    @property
    def count(self) -> int:
        return len(self.starts)

    def start(self, line: int) -> int:
        """Where a line begins; past the last one, the end of the file."""
        return self.starts[line - 1] if line <= len(self.starts) else len(self.data)

    def line_at(self, offset: int) -> int:
        return max(1, bisect_right(self.starts, offset))

    def line_end(self, near: int) -> bytes:
        """The line end to be used at a line: that of the line itself, of one before, or of the first."""
        for line in (near, near - 1, 1):
            if 1 <= line <= self.count:
                end = self.start(line + 1)
                if self.data[end - 2 : end] == b"\r\n":
                    return b"\r\n"
                if self.data[end - 1 : end] == b"\n":
                    return b"\n"
        return b"\n"

    def encode(self, text: str) -> bytes:
        """New text in the encoding of the file; what it cannot hold is refused."""
        if self.is_utf8:
            return encoded(text)
        if "\N{REPLACEMENT CHARACTER}" in text:
            raise EditRefused(
                f"{self.path} is not UTF-8, and the new text has � where the file has other bytes.",
                hints=["Leave such lines out of the edit: bytes outside it stay as they are."],
                path=self.path,
            )
        try:
            return text.encode("latin-1")
        except UnicodeEncodeError as error:
            raise EditRefused(
                f"{self.path} is not UTF-8; as Latin-1, it cannot hold {error.object[error.start]!r}.",
                path=self.path,
            ) from error

    def as_lines(self, lines: list[str], first: int, last: int) -> bytes:
        """New lines in the place of `first` to `last`, with the line ends and the end of the file kept.

        An empty place (`last` before `first`) is before `first`.
        """
        if not lines:
            return b""
        end = self.line_end(first)
        encoded_lines = [self.encode(line) + end for line in lines]
        if max(first - 1, last) >= self.count and self.count and not self.data.endswith(b"\n"):
            encoded_lines[-1] = encoded_lines[-1].removesuffix(end)
            if first > self.count:
                encoded_lines[0] = end + encoded_lines[0]
        return b"".join(encoded_lines)


def encoded(text: str) -> bytes:
    """New text in UTF-8."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise EditRefused("The new text has characters that are not Unicode (lone surrogates).") from error


def split(text: str) -> list[str]:
    """The lines of a text that was sent; one line end at its end more or less makes no difference."""
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []


def _unreadable_error(path: str, what: str) -> EditRefused:
    return EditRefused(
        f"{path} {what}; only files in UTF-8 or Latin-1 can be edited by lines.",
        hints=["It can still be deleted, moved, or replaced as a whole (content with expected_file_sha256)."],
        path=path,
    )
