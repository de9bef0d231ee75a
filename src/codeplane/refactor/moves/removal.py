"""Taking things out of a text: a definition with what belongs to it, one name of a list, an import."""

import re
from collections.abc import Collection
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.proof import Tier
from codeplane.languages.facts import Import, Span
from codeplane.refactor.plan import Site
from codeplane.refactor.text import Lines

_ATTACHED: Final = re.compile(rb"\s*(?:#|//|///|/\*|\*|--|@|\[)")
_ENDING: Final = re.compile(rb"[ \t]*[;,]?[ \t]*(?:(?://|#)[^\n]*)?\r?(?:\n|\Z)")
_BLANK: Final = re.compile(rb"[ \t]*\r?\Z")
_ALIAS: Final = re.compile(rb"\s+as\s+[\w$]+|\s*:\s*[\w$]+(?=\s*[,}])")
_BEGUN: Final = re.compile(rb"\s*(?:from|import|use|using|export|pub use|require|const|let|var)\b")
# What a comment says about its file as a whole, and not about what follows it.
PRAGMA: Final = re.compile(
    rb"#!|\s*(?:#|//|/\*+)\s*(?:eslint-disable(?!-)|eslint-env|@ts-(?:no)?check|@flow|@jest-|@vitest-|@jsx"
    rb"|globals? |-\*-|mypy:|flake8:|ruff: noqa|pylint: |pyright:|go:build|\+build)"
)
_OPEN, _CLOSED = b"([{", b")]}"


def definition(path: RepoPath, lines: Lines, span: Span) -> Site | None:
    """The whole lines of a definition, with comments that stand right above and the blank lines around it.

    None where it shares a line with something else.
    """
    rows = lines.data.split(b"\n")
    before = rows[span.start_line - 1][: span.start_column]
    if before.strip() or not _ENDING.match(rows[span.end_line - 1], span.end_column):
        return None
    first, last = span.start_line - 1, span.end_line - 1
    while first > 0 and _belongs(rows[first - 1], before):
        first -= 1
    after = last + 1
    while after < len(rows) and _BLANK.match(rows[after]):
        after += 1
    if after >= len(rows):
        while first > 0 and _BLANK.match(rows[first - 1]):
            first -= 1
    elif _indent(rows[after]) < len(before):
        # It is the last one of its block: the blank lines after it set the block apart.
        after = last + 1
        while first > 0 and _BLANK.match(rows[first - 1]):
            first -= 1
    start = lines.offset(first + 1, 0)
    end = lines.offset(after + 1, 0) if lines.has(after + 1) else len(lines.data)
    return removed(path, lines, start, end)


def _belongs(row: bytes, indent: bytes) -> bool:
    """Whether a line above is a comment or an attribute of what follows."""
    return row.startswith(indent) and bool(_ATTACHED.match(row)) and not PRAGMA.match(row)


def _indent(row: bytes) -> int:
    return len(row) - len(row.lstrip(b" \t"))


def entry(path: RepoPath, lines: Lines, line: int, column: int, name: str) -> Site | None:
    """One name, or string of it, out of a list between brackets; the brackets stay."""
    start = lines.offset(line, column)
    end = start + len(name.encode("utf-8", "surrogateescape"))
    if lines.data[start - 1 : start] in (b'"', b"'"):
        start, end = start - 1, end + 1
    extent = _from_list(lines.data, start, end)
    return removed(path, lines, *(extent or (start, end)))


def imported(path: RepoPath, lines: Lines, item: Import) -> Site | None:
    """One name out of an import statement, or the statement where it is the only one."""
    start = lines.offset(item.line, item.column)
    name = (item.name or item.module).encode("utf-8", "surrogateescape")
    if not lines.data.startswith(name, start):
        return _statement(path, lines, start, start)
    end = start + len(name)
    if alias := _ALIAS.match(lines.data, end):
        end = alias.end()
    extent = _from_list(lines.data, start, end)
    return removed(path, lines, *extent) if extent is not None else _statement(path, lines, start, end)


def _from_list(data: bytes, start: int, end: int) -> tuple[int, int] | None:
    """What goes when one of several between commas goes; None where it is the only one."""
    after = _skip(data, end)
    before = _back(data, start)
    if data[after : after + 1] == b"," and not _is_one_of(data, _skip(data, after + 1), _CLOSED):
        stop = after + 1
        while data[stop : stop + 1] in (b" ", b"\t"):
            stop += 1
        if data[stop : stop + 1] == b"\n" and not data[data.rfind(b"\n", 0, start) + 1 : start].strip():
            return data.rfind(b"\n", 0, start) + 1, stop + 1
        return start, stop
    if data[before : before + 1] == b",":
        return before, end
    first, stop = data.rfind(b"\n", 0, start) + 1, data.find(b"\n", after) + 1
    is_listed = data[after : after + 1] == b"," and not _is_one_of(data, before, _OPEN)
    if is_listed and stop and not data[first:start].strip() and not data[after + 1 : stop].strip():
        return first, stop  # a comment stands behind the one before
    return None


def _statement(path: RepoPath, lines: Lines, start: int, end: int) -> Site | None:
    """The lines of a statement that has nothing else in it."""
    data = lines.data
    before, after = _back(data, start), _skip(data, end)
    if data[after : after + 1] == b",":
        after = _skip(data, after + 1)
    if _is_one_of(data, before, _OPEN) and _is_one_of(data, after, _CLOSED):
        start, end = before, after + 1
    first = data.rfind(b"\n", 0, start) + 1
    stop = data.find(b"\n", end)
    stop = len(data) if stop < 0 else stop + 1
    if not _BEGUN.match(data, first) or b";" in data[first:stop].rstrip(b" \t\r\n;"):
        return None
    return removed(path, lines, first, stop)


def _skip(data: bytes, at: int) -> int:
    while at < len(data) and data[at : at + 1].isspace():
        at += 1
    return at


def _back(data: bytes, at: int) -> int:
    at -= 1
    while at > 0 and data[at : at + 1].isspace():
        at -= 1
    return at


def _is_one_of(data: bytes, at: int, marks: bytes) -> bool:
    return 0 <= at < len(data) and data[at] in marks


def removed(path: RepoPath, lines: Lines, start: int, end: int) -> Site:
    """The removal of some bytes."""
    line, column = lines.position(start)
    old = lines.data[start:end].decode("utf-8", "surrogateescape")
    return Site(path, line, column, old, "", Tier.PROVEN, "removed")


def apart(sites: Collection[Site], lines: Lines) -> list[Site]:
    """The sites without those that stand inside of another one."""
    disjoint_sites: list[Site] = []
    end = -1
    for site in sorted(sites, key=lambda one: (one.line, one.column, -len(one.old))):
        start = lines.offset(site.line, site.column)
        if start >= end:
            disjoint_sites.append(site)
            end = start + len(site.old.encode("utf-8", "surrogateescape"))
    return disjoint_sites


def disjoint(sites: Collection[Site], lines: Lines) -> list[Site]:
    """The sites without blank lines that two of them would take; none are left at the end of a file."""
    spans: list[tuple[int, int]] = []
    for site in sorted(sites):
        start = lines.offset(site.line, site.column)
        end = start + len(site.old.encode("utf-8", "surrogateescape"))
        spans.append((max(start, spans[-1][1] if spans else 0), end))
    first = len(spans) - 1
    while first > 0 and spans[first - 1][1] == spans[first][0]:
        first -= 1
    if spans and spans[-1][1] == len(lines.data):
        start, end = spans[first]
        head = lines.data[:start]
        spans[first] = len(head.rstrip()) + (1 if head.strip() else 0), end
    path = next(iter(sites)).path
    return [removed(path, lines, *span) for span in spans]
