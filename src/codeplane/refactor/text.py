"""Sites become edits: bytes are replaced at their places and nowhere else."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from codeplane.refactor.plan import Site


class Lines:
    """Where the lines of a file begin, in bytes. A line ends with a line feed, as facts count them."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._starts = [0]
        at = data.find(b"\n")
        while at >= 0:
            self._starts.append(at + 1)
            at = data.find(b"\n", at + 1)

    def offset(self, line: int, column: int) -> int:
        return self._starts[line - 1] + column

    def position(self, offset: int) -> tuple[int, int]:
        """Line and byte column of an offset."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1]

    def holds(self, site: Site) -> bool:
        """Whether the text that a site replaces stands there."""
        old = site.old.encode("utf-8", "surrogateescape")
        return self.has(site.line) and self.data.startswith(old, self.offset(site.line, site.column))

    def has(self, line: int) -> bool:
        return 0 < line <= len(self._starts)

    def text(self, line: int) -> str:
        """One line, without its end."""
        end = self._starts[line] if line < len(self._starts) else len(self.data)
        return self.data[self._starts[line - 1] : end].decode("utf-8", "replace").rstrip("\r\n")

    def replaced(self, sites: Iterable[Site]) -> bytes:
        """The file with the sites replaced; they do not overlap."""
        return b"".join(self._pieces(sorted(sites)))

    def _pieces(self, sites: Sequence[Site]) -> Iterator[bytes]:
        done = 0
        for site in sites:
            start = self.offset(site.line, site.column)
            assert start >= done, "BUG: sites overlap"
            yield self.data[done:start]
            yield site.new.encode("utf-8", "surrogateescape")
            done = start + len(site.old.encode("utf-8", "surrogateescape"))
        yield self.data[done:]


def moved(sites: Iterable[Site]) -> Iterator[tuple[Site, int, int]]:
    """Each site with the byte columns that its new text begins and ends at, once all of them are replaced."""
    line, shift = ("", 0), 0
    for site in sorted(sites):
        if (site.path, site.line) != line:
            line, shift = (site.path, site.line), 0
        old, new = (len(text.encode("utf-8", "surrogateescape")) for text in (site.old, site.new))
        yield site, site.column + shift, site.column + shift + new
        shift += new - old
