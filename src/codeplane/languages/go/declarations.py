"""The import declarations of a file and its lists of declarations, as `gofmt` writes them."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final, NamedTuple

from tree_sitter import Node

from codeplane.core.text import LineStarts
from codeplane.languages.moving import Stuck
from codeplane.languages.query import parse
from codeplane.languages.rules.carrying import Wanted

_LISTED: Final = ("const_spec", "var_spec", "type_spec", "type_alias")
_IOTA: Final = re.compile(rb"\biota\b")

IsOurs = Callable[[str], bool]


class _Spec(NamedTuple):
    """An import by its rows, from 0."""

    first: int
    end: int  # the row behind it
    path: str


class _Declaration(NamedTuple):
    first: int
    end: int
    specs: Sequence[_Spec]
    is_list: bool


def _import_declarations(data: bytes) -> Iterator[_Declaration]:
    """The import declarations of a file, without that of `C`."""
    lines = LineStarts(data)

    def rows(node: Node) -> tuple[int, int]:
        return lines.position(node.start_byte)[0] - 1, lines.position(max(0, node.end_byte - 1))[0]

    for node in parse("go", data).children:
        if node.type != "import_declaration":
            continue
        inner = next((one for one in node.children if one.type == "import_spec_list"), None)
        children = (inner or node).children
        specs = [_Spec(*rows(one), _import_path(one)) for one in children if one.type == "import_spec"]
        if [one.path for one in specs] != ["C"]:
            yield _Declaration(*rows(node), specs, inner is not None)


def _import_path(spec: Node) -> str:
    path = spec.child_by_field_name("path")
    text = path.text or b"" if path is not None else b""
    return text[1:-1].decode("utf-8", "surrogateescape")


def without(data: bytes, numbers: Collection[int]) -> bytes:
    """A file without the imports in some lines, counted from 1."""
    rows = data.split(b"\n")
    removed_rows: set[int] = set()
    for one in _import_declarations(data):
        going = [spec for spec in one.specs if spec.first + 1 in numbers]
        if len(going) == len(one.specs):
            removed_rows.update(range(one.first, one.end))
            removed_rows |= {one.end} if one.end < len(rows) and not rows[one.end].strip() else set()
            continue
        removed_rows |= {row for spec in going for row in range(spec.first, spec.end)}
        removed_rows |= _blank_rows(rows, one, removed_rows) if going else set()
    return b"\n".join(row for at, row in enumerate(rows) if at not in removed_rows)


def _blank_rows(rows: Sequence[bytes], one: _Declaration, gone: Collection[int]) -> set[int]:
    """The blank rows of a list that would stand at its beginning, at its end, or twice."""
    numbers: set[int] = set()
    last = -1  # the last row that stays and is not blank
    blank: list[int] = []
    for at in range(one.first + 1, one.end):
        if at in gone:
            continue
        if not rows[at].strip():
            blank.append(at)
            continue
        is_end = at == one.end - 1
        numbers.update(blank if last < 0 or is_end else blank[1:])
        last, blank = at, []
    return numbers


def added(data: bytes, wanted: Wanted, is_ours: IsOurs) -> bytes:
    """A file with one import more."""
    text = f'{wanted.alias} "{wanted.name}"' if wanted.alias else f'"{wanted.name}"'
    spec = text.encode("utf-8", "surrogateescape")
    own, rows = list(_import_declarations(data)), data.split(b"\n")
    lists = [one for one in own if one.is_list and one.specs]
    if lists:
        return b"\n".join(_list_with(rows, lists[-1], wanted.name, spec, is_ours))
    if len(own) == 1 and own[0].specs:
        old = own[0]
        single = b"\n".join(rows[old.first : old.end]).strip().removeprefix(b"import").strip()
        rows[old.first : old.end] = [b"import (", b"\t" + single, b")"]
        return added(b"\n".join(rows), wanted, is_ours)
    if own:
        rows[own[-1].end : own[-1].end] = [b"import " + spec]
        return b"\n".join(rows)
    clause = next((at for at, row in enumerate(rows) if row.startswith(b"package ")), 0)
    rows[clause + 1 : clause + 1] = [b"", b"import " + spec]
    return b"\n".join(rows)


def _list_with(rows: list[bytes], one: _Declaration, path: str, spec: bytes, is_ours: IsOurs) -> list[bytes]:
    """A list with one import more: in the section of its like, sorted, or in one of its own."""
    groups: list[list[_Spec]] = []
    for it in one.specs:
        if groups and all(rows[at].strip() for at in range(groups[-1][-1].end, it.first)):
            groups[-1].append(it)
        else:
            groups.append([it])
    rank = _section_rank(path, is_ours)
    ranks = [{_section_rank(it.path, is_ours) for it in group} for group in groups]
    fitting = [group for group, own in zip(groups, ranks, strict=True) if rank in own]
    if not fitting and len(groups) == 1 and len(ranks[0]) > 1:
        fitting = groups
    text = b"\t" + spec
    if fitting:
        group = fitting[0]
        at = next((it.first for it in group if it.path > path), group[-1].end)
        return [*rows[:at], text, *rows[at:]]
    before = [group for group, own in zip(groups, ranks, strict=True) if max(own) < rank]
    if before:
        at = before[-1][-1].end
        return [*rows[:at], b"", text, *rows[at:]]
    at = groups[0][0].first
    return [*rows[:at], text, b"", *rows[at:]]


def _section_rank(path: str, is_ours: IsOurs) -> int:
    """The library's packages have no dot in the first part of their path; the own ones come last."""
    if is_ours(path):
        return 2
    return 1 if "." in path.partition("/")[0] else 0


def lifted(data: bytes, line: int, text: str) -> str | Stuck:
    """The text of a declaration with the keyword of the list that it stands in, if it stands in one."""
    spec = _listed_at(data, line)
    if spec is None:
        return text
    above = spec.parent if spec.parent is not None else spec
    declaration = above if above.type.endswith("_declaration") else above.parent or above
    keyword = declaration.type.removesuffix("_declaration")
    if keyword == "const":
        if _IOTA.search(declaration.text or b""):
            return Stuck(
                line, "The list of constants counts with `iota`: moving one would change the others."
            )
        following = spec.next_named_sibling
        while following is not None and following.type == "comment":
            following = following.next_named_sibling
        implicit = [one for one in (spec, following) if one is not None and b"=" not in (one.text or b"")]
        if implicit:
            return Stuck(line, "The list of constants repeats a value without writing it.")
    rows = [row.removeprefix("\t") for row in text.split("\n")]
    at = _comment_rows(text, spec)
    rows[at] = f"{keyword} {rows[at]}"
    return "\n".join(rows)


def _comment_rows(text: str, spec: Node) -> int:
    """How many rows of comments stand above a declaration in its text."""
    first = (spec.text or b"").split(b"\n")[0].decode("utf-8", "surrogateescape")
    return next((at for at, row in enumerate(text.split("\n")) if row.strip().startswith(first)), 0)


def _listed_at(data: bytes, line: int) -> Node | None:
    """The declaration at a line, where it stands in a list between parentheses with others."""
    lines = LineStarts(data)
    for node in parse("go", data).children:
        inner = next((one for one in node.children if one.type.endswith("_spec_list")), node)
        specs = [one for one in inner.children if one.type in _LISTED]
        if len(specs) < 2:
            continue
        for one in specs:
            if lines.position(one.start_byte)[0] == line:
                return one
    return None
