"""How a definition goes to another module: the imports that it needs there, and those that lead to it."""

import re
from collections.abc import Sequence

from codeplane.languages.facts import Import
from codeplane.languages.modules import Sources
from codeplane.languages.moving import Change
from codeplane.languages.python import resolve
from codeplane.languages.python.statements import Statement, statements, written

_FUTURE = re.compile(rb"^from __future__ import (?:\([^)]*\)|[\w, ]+)", re.MULTILINE)


def module_text(sources: Sources, path: str, target: str) -> str | None:
    """The absolute name by which a file imports another."""
    name = resolve.module_name(sources, target)
    found = resolve.places(sources, path, Import(0, "python_from", name, "", "", 0, 0))
    return name if [place.path for place in found] == [target] else None


def import_text(item: Import, module: str) -> str:
    """An import of the same thing, from a module by another text."""
    alias = item.alias if item.alias != (item.name or item.module.partition(".")[0]) else ""
    if item.name:
        return written(module, [(item.name, alias)])
    return written(None, [(module, alias)])


def is_plain(data: bytes, item: Import) -> bool:
    """Whether an import stands on its own at the top of a file, under no condition."""
    return any(one.column == 0 and _holds(one, item) for one in statements(data))


def whole(data: bytes) -> list[str]:
    """The imports that change what a whole file means."""
    return [found[0].decode() for found in _FUTURE.finditer(data)]


def insertion(data: bytes) -> int:
    """The line before which imports may be added: after those that are there, the docstring and comments."""
    top = [one for one in statements(data) if one.column == 0]
    future = [data.count(b"\n", 0, found.end()) + 2 for found in _FUTURE.finditer(data)]
    lines = [*future, *(one.line + one.text.count("\n") + 1 for one in top)]
    return max(lines, default=0) or _after_docstring(data)


def _after_docstring(data: bytes) -> int:
    lines = data.split(b"\n")
    at = 0
    while at < len(lines) and (lines[at].startswith(b"#") or (at == 0 and not lines[at].strip())):
        at += 1
    for mark in (b'"""', b"'''"):
        if at < len(lines) and lines[at].lstrip(b"rRuU").startswith(mark):
            first = at
            while at < len(lines) and not (
                lines[at].rstrip().endswith(mark) and _closes(lines[at], at == first)
            ):
                at += 1
            return at + 2
    return at + 1


def _closes(line: bytes, is_first: bool) -> bool:
    return not is_first or len(line.strip()) > 5


def taken_from(data: bytes, item: Import, module: str | None) -> Change | None:
    """The statement of an import with one name from another module, or without it where that is None."""
    found = next((one for one in statements(data) if _holds(one, item)), None)
    if found is None or found.module is None or (not found.is_plain and len(found.names) > 1):
        return None
    names = [(one.name, one.alias) for one in found.names if not _is_at(one.line, one.column, item)]
    own = [(one.name, one.alias) for one in found.names if _is_at(one.line, one.column, item)]
    parts = [written(found.module, names)] if names else []
    parts += [written(module, own)] if module is not None else []
    return _changed(data, found, parts)


def _changed(data: bytes, found: Statement, parts: Sequence[str]) -> Change | None:
    row = data.split(b"\n")[found.line - 1]
    before = row[: found.column].decode("utf-8", "surrogateescape")
    if before.strip():
        return None
    if parts:
        return Change(found.line, found.column, found.text, f"\n{before}".join(parts))
    return Change(found.line, 0, f"{before}{found.text}\n", "") if not before else None


def _holds(statement: Statement, item: Import) -> bool:
    return any(_is_at(one.line, one.column, item) for one in statement.names)


def _is_at(line: int, column: int, item: Import) -> bool:
    return (line, column) == (item.line, item.column)
