"""How imports get into a file: into the statement that takes from the same module, else where they belong."""

import re
import sys
from collections.abc import Callable, Sequence
from typing import Final

from tree_sitter import Node

from codeplane.languages.ordering import Entry, order_of, sections
from codeplane.languages.python.statements import Statement, Taken, statements, written
from codeplane.languages.query import parse
from codeplane.languages.rules.carrying import Wanted

_NARROW: Final = 79
_WIDE: Final = 120
_HEAD: Final = (
    "import_statement",
    "import_from_statement",
    "future_import_statement",
    "if_statement",
    "try_statement",
    "comment",
)
_CODE: Final = re.compile(rb"(?:def|class|async\s+def|@)")
_STAR: Final = "*"

IsOurs = Callable[[str], bool]


def head(data: bytes) -> list[Statement]:
    """The import statements at the top of a file that have their lines for themselves."""
    code = next((one for one in parse("python", data).children if _is_code(one)), None)
    last = data.count(b"\n", 0, code.start_byte) + 1 if code is not None else data.count(b"\n") + 2
    rows = data.split(b"\n")
    return [
        one
        for one in statements(data)
        if one.column == 0
        and one.line < last
        and b";" not in rows[one.line + one.text.count("\n") - 1].partition(b"#")[0]
    ]


def _is_code(node: Node) -> bool:
    """Whether something is no import, no condition, no remark, and nothing that a module says of itself."""
    if node.type == "expression_statement":
        text = node.text or b""
        return (
            not text.startswith((b"__", b'"', b"'", b"r", b"R", b"u", b"U")) or b"(" in text.split(b"\n")[0]
        )
    return node.type not in _HEAD


def entries(data: bytes) -> list[Entry]:
    """The statements at the top of a file by their lines."""
    return [_entry_of(one) for one in head(data)]


def _entry_of(one: Statement) -> Entry:
    module = one.module if one.module is not None else one.names[0].name
    name = one.names[0].name if one.module is not None else ""
    return Entry(one.line - 1, one.line + one.text.count("\n"), module, one.module is None, name)


def arranged(data: bytes, wanted: Sequence[Wanted], is_ours: IsOurs) -> bytes:
    """A file with more imports, merged into what is there and sorted as that is."""
    if b"\r\n" in data and data.count(b"\r\n") == data.count(b"\n"):
        return arranged(data.replace(b"\r\n", b"\n"), wanted, is_ours).replace(b"\n", b"\r\n")
    for one in wanted:
        own = head(data)
        same = [it for it in own if it.module == one.module and it.names[0].name != _STAR]
        if one.module is not None and same and not _are_single(own):
            data = _merged_name(data, same[-1], one)
        else:
            data = _placed_statement(data, own, one, is_ours)
    return data


def _are_single(own: Sequence[Statement]) -> bool:
    """Whether every name has a statement of its own, so that some take from the same module."""
    modules = [one.module for one in own if one.module is not None]
    return len(set(modules)) < len(modules) and all(len(one.names) == 1 for one in own)


def _merged_name(data: bytes, statement: Statement, one: Wanted) -> bytes:
    """A name more in a statement, among its names where these are sorted."""
    if any((it.name, it.alias) == (one.name, one.alias) for it in statement.names):
        return data
    names = [it.name for it in statement.names]
    order = next((key for key in _NAME_ORDERS if names == sorted(names, key=key)), None)
    at = len(names)
    if order is not None:
        at = next((number for number, it in enumerate(names) if order(it) > order(one.name)), at)
    return _wrapped_statement(_insert_name(data, statement, at, _name_text(one)), statement.line)


def _by_type(name: str) -> tuple[int, str]:
    return (0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2), name


_NAME_ORDERS: Final[tuple[Callable[[str], tuple[int, str]], ...]] = (
    _by_type,
    lambda name: (0, name.casefold()),
    lambda name: (0, name),
)


def _insert_name(data: bytes, statement: Statement, at: int, told: bytes) -> bytes:
    names = statement.names
    rows = data.split(b"\n")
    if at < len(names):
        row, column = names[at].line - 1, names[at].column
        before = rows[row][:column]
        is_alone = not before.strip() and all(it.line != names[at].line for it in names if it != names[at])
        rows[row] = before + told + (b",\n" + before if is_alone else b", ") + rows[row][column:]
        return b"\n".join(rows)
    last = names[-1]
    row = last.line - 1
    end = last.column + _name_length(last, rows[row])
    rest = rows[row][end:]
    if rest.lstrip().startswith(b","):
        comma = end + rest.index(b",") + 1
        before = rows[row][: last.column]
        is_alone = not before.strip()
        if is_alone:
            rows[row] += b"\n" + before + told + b","
        else:
            rows[row] = rows[row][:comma] + b" " + told + b"," + rows[row][comma:]
    else:
        rows[row] = rows[row][:end] + b", " + told + rest
    return b"\n".join(rows)


def _name_length(one: Taken, row: bytes) -> int:
    """The bytes of a name with its alias."""
    match = re.compile(rb"[\w.]+(?:\s+as\s+\w+)?").match(row, one.column)
    return match.end() - one.column if match else len(one.name)


def _name_text(one: Wanted) -> bytes:
    return (f"{one.name} as {one.alias}" if one.alias else one.name).encode("utf-8", "surrogateescape")


def _wrapped_statement(data: bytes, line: int) -> bytes:
    """A statement that has become too long for one line, a name in each."""
    rows = data.split(b"\n")
    row = rows[line - 1]
    longest = max((len(one) for at, one in enumerate(rows) if at != line - 1), default=0)
    if len(row) <= min(max(longest, _NARROW), _WIDE) or b"(" in row or b"#" in row or b"\\" in row:
        return data
    start, _, names = row.partition(b" import ")
    lines = b"".join(b"    " + one.strip() + b",\n" for one in names.split(b","))
    rows[line - 1] = start + b" import (\n" + lines + b")"
    return b"\n".join(rows)


def _placed_statement(data: bytes, own: Sequence[Statement], one: Wanted, is_ours: IsOurs) -> bytes:
    """A statement of its own, in the section that it belongs to."""
    text = written(one.module, [(one.name, one.alias)]).encode("utf-8", "surrogateescape")
    module = one.module if one.module is not None else one.name
    rank = _section_rank(module, is_ours)
    groups = sections([_entry_of(it) for it in own])
    rows = data.split(b"\n")
    ranks = [[_section_rank(it.module, is_ours) for it in group] for group in groups]
    fitting = [group for group, own_ranks in zip(groups, ranks, strict=True) if rank in own_ranks]
    # Where all stand together, so does what comes.
    fitting = fitting or [groups[0]] if len(groups) == 1 and len(set(ranks[0])) > 1 else fitting
    if fitting:
        line = _line_within(
            fitting[-1], Entry(0, 0, module, one.module is None, one.name if one.module else "")
        )
        rows[line:line] = [text]
    elif before := [group for group in groups if _section_rank(group[-1].module, is_ours) < rank]:
        line = before[-1][-1].end
        rows[line:line] = [b"", text, *([b""] if line < len(rows) and rows[line].strip() else [])]
    elif groups:
        line = groups[0][0].first
        rows[line:line] = [text, b""]
    else:
        rows = _with_first_import(rows, text)
    return b"\n".join(rows)


def _line_within(group: Sequence[Entry], one: Entry) -> int:
    """The line in a section that a statement goes before."""
    order = order_of(group)
    if order is not None:
        return next((it.first for it in group if order(it) > order(one)), group[-1].end)
    root = one.module.partition(".")[0]
    alike = [it for it in group if it.module.partition(".")[0] == root]
    return (alike or group)[-1].end


def _section_rank(module: str, is_ours: IsOurs) -> int:
    """Which section a module belongs to: the language, its library, other packages, the own one, relative."""
    if module == "__future__":
        return 0
    if module.partition(".")[0] in sys.stdlib_module_names:
        return 1
    if module.startswith("."):
        return 4
    return 3 if is_ours(module) else 2


def _with_first_import(rows: list[bytes], text: bytes) -> list[bytes]:
    """The first import of a file: behind its docstring and the comments above that."""
    line = _after_docstring(rows)
    behind = next((at for at in range(line, len(rows)) if rows[at].strip()), len(rows))
    least = 0 if behind == len(rows) else 2 if _CODE.match(rows[behind]) else 1
    blank = [b""] * max(least, behind - line)
    before = [b""] if line and rows[line - 1].strip() else []
    return [*rows[:line], *before, text, *blank, *rows[behind:]]


def _after_docstring(rows: Sequence[bytes]) -> int:
    at = 0
    while at < len(rows) and rows[at].startswith(b"#"):
        at += 1
    for mark in (b'"""', b"'''"):
        if at < len(rows) and rows[at].lstrip(b"rRuU").startswith(mark):
            first = at
            while at < len(rows) and not (
                rows[at].rstrip().endswith(mark) and (at > first or len(rows[at].strip()) > len(mark) + 2)
            ):
                at += 1
            return min(at + 1, len(rows))
    return at
