"""Sites become edits: bytes are replaced at their places and nowhere else."""

from collections.abc import Iterable, Iterator, Sequence

from codeplane.core.text import LineStarts
from codeplane.refactor.plan import Site


class Lines(LineStarts):
    """The lines of a file that sites are in."""

    def holds(self, site: Site) -> bool:
        """Whether the text that a site replaces stands there."""
        old = site.old.encode("utf-8", "surrogateescape")
        return self.has(site.line) and self.data.startswith(old, self.offset(site.line, site.column))

    def replaced(self, sites: Iterable[Site]) -> bytes:
        """The file with the sites replaced; they do not overlap."""
        return b"".join(self._pieces(sorted(sites)))

    def _pieces(self, sites: Sequence[Site]) -> Iterator[bytes]:
        end = 0
        for site in sites:
            start = self.offset(site.line, site.column)
            assert start >= end, "BUG: sites overlap"
            yield self.data[end:start]
            yield site.new.encode("utf-8", "surrogateescape")
            end = start + len(site.old.encode("utf-8", "surrogateescape"))
        yield self.data[end:]


def moved(sites: Iterable[Site]) -> Iterator[tuple[Site, int, int]]:
    """Each site with the byte columns that its new text begins and ends at, once all of them are replaced."""
    line, shift = ("", 0), 0
    for site in sorted(sites):
        if (site.path, site.line) != line:
            line, shift = (site.path, site.line), 0
        old, new = (len(text.encode("utf-8", "surrogateescape")) for text in (site.old, site.new))
        yield site, site.column + shift, site.column + shift + new
        shift += new - old
