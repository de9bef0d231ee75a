"""The sites of one file, and which of nested spans a byte is in."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.slots import ContentSlot
from codeplane.languages.sites import Site, SiteKind, Value, ValueKind, read_own_sites, unpack_sites
from codeplane.names import Codebase, FileFacts

_DESTRUCTURED: Final = re.compile(r"([\w$]+)\s*(?::\s*([\w$]+))?[^,{}]*")
"""The members of a pattern such as `{a, b: c = 1}`, each with the name that it is given."""


SITES: Final[ContentSlot["FileSites"]] = ContentSlot("sites of a file")


class FileSites:
    """The sites of one file, found by position and by the name that they are assigned to."""

    def __init__(self, sites: list[Site]) -> None:
        self.sites = sites

    @cached_property
    def starts(self) -> list[int]:
        return [site.start for site in self.sites]

    @cached_property
    def by_name(self) -> dict[str, list[Site]]:
        """Sites that give a name its value."""
        table: dict[str, list[Site]] = {}
        for site in self.sites:
            if site.name and site.kind in (SiteKind.CALL, SiteKind.ASSIGN, SiteKind.SUBSCRIPT):
                for name, one in _given_names(site):
                    table.setdefault(name, []).append(one)
        return table

    def within(self, first: int, last: int) -> list[Site]:
        """The sites that begin in a range of bytes."""
        return self.sites[bisect_left(self.starts, first) : bisect_left(self.starts, last)]


def _given_names(site: Site) -> Iterator[tuple[str, Site]]:
    """The names that a site gives a value: two in `a = b = x`, members of it in `{a, b: c} = x`."""
    for name in site.name.split(" = "):
        if not name.startswith("{"):
            yield name, site
            continue
        for member, local in _DESTRUCTURED.findall(name.replace("...", "")):
            value = Value(ValueKind.MEMBER, member, site.value.start, (site.value,))
            yield local or member, site._replace(kind=SiteKind.ASSIGN, value=value)


def segments_of(spans: list[tuple[int, int, int]]) -> tuple[list[int], list[int]]:
    """Where the innermost of nested spans changes, and to which number; -1 is outside of all."""
    changes: dict[int, int] = {}
    around: list[tuple[int, int]] = []  # ends and numbers of definitions that are open
    for first, last, number in sorted(spans, key=lambda span: (span[0], -span[1], span[2])):
        while around and around[-1][0] <= first:
            end, _ = around.pop()
            changes[end] = around[-1][1] if around else -1
        changes[first] = number
        around.append((last, number))
    while around:
        end, _ = around.pop()
        changes[end] = around[-1][1] if around else -1
    starts = sorted(changes)
    return starts, [changes[start] for start in starts]


def load_sites(code: Codebase, path: RepoPath, facts: FileFacts) -> FileSites:
    """The sites of a file: kept ones, else read out of its content."""
    packed = code.kept_sites(facts.blob)
    if packed is not None:
        return FileSites(unpack_sites(packed))
    return FileSites(read_own_sites(facts.language, code.source(path)))
