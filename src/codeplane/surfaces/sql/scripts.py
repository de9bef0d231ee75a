"""Statements of `.sql` files, apart from each other: one that can't be parsed doesn't hide the rest."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from codeplane.surfaces.sql.statements import LONGEST

LARGEST: Final = 2_000_000  # characters of a file that are read
_TOKEN: Final = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?\*/|^\s*\\[^\n]*$|^\#[^\n]*$)
      | (?P<text>'(?:[^'\\]|''|\\.)*'|"(?:[^"]|"")*"|`[^`]*`|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$)
      | (?P<end>;|^[ \t]*GO[ \t]*$)""",
    re.DOTALL | re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)
_COPIED: Final = re.compile(
    r"(^COPY\s[^;]*FROM\s+stdin[^;]*;\n).*?^\\\.$", re.DOTALL | re.MULTILINE | re.IGNORECASE
)
_VALUES: Final = re.compile(r"\bVALUES\b", re.IGNORECASE)


class Statement(NamedTuple):
    """One statement of a file, and the line that it begins in."""

    text: str
    line: int


def split_script(text: str) -> Iterator[Statement]:
    """The statements of a file."""
    text = _COPIED.sub(lambda match: match[1] + "\n" * (match[0].count("\n") - 1), text[:LARGEST])
    pieces: list[str] = []
    start = at = 0
    for match in _TOKEN.finditer(text):
        pieces.append(text[at : match.start()])
        at = match.end()
        if match["comment"] is not None:
            pieces.append(re.sub(r"[^\n]", " ", match[0]))
        elif match["text"] is not None:
            pieces.append(match[0])
        else:
            yield from _statement("".join(pieces), text, start)
            pieces, start = [], at
    yield from _statement("".join([*pieces, text[at:]]), text, start)


def _statement(body: str, text: str, start: int) -> Iterator[Statement]:
    if not body.strip():
        return
    first = start + len(body) - len(body.lstrip())
    if len(body) > LONGEST:  # rows that are inserted say nothing more of the table
        match = _VALUES.search(body)
        body = f"{body[: match.start()]} VALUES (1)" if match is not None else body
    yield Statement(body.strip(), text.count("\n", 0, first) + 1)
