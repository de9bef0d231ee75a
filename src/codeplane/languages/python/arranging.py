"""The import statements at the top of a file in their order, and how more of them get there."""

from collections.abc import Sequence
from typing import Final

from tree_sitter import Node

from codeplane.languages.operations.source import Source
from codeplane.languages.ordering import Entry
from codeplane.languages.python.placement import IsOurs, place_name
from codeplane.languages.python.statements import Statement, statements
from codeplane.languages.query import parse
from codeplane.languages.rules.carrying import Wanted

_HEAD: Final = (
    "import_statement",
    "import_from_statement",
    "future_import_statement",
    "if_statement",
    "try_statement",
    "comment",
)


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
    for one in wanted:
        source = Source("python", data)
        data = source.apply(place_name(source, one, is_ours))
    return data
