"""The definitions of one blob, as rows that are made into facts when they are asked for."""

from codeplane.index.store import from_sql
from codeplane.languages.facts import Definition, Span
from codeplane.parsing.pack import Unpacked
from codeplane.storage.database import Connection


class Definitions(Unpacked[Definition]):
    """All definitions of a blob, in order."""

    def __init__(self, connection: Connection, blob: int) -> None:
        self._rows = connection.execute(
            "SELECT name, kind, parent, scope, body, start_line, start_column, end_line, end_column,"
            " name_line, name_column, signature, bases, annotation, flags, owner, text FROM definition"
            " WHERE blob = ? ORDER BY position",
            (blob,),
        ).fetchall()
        self._count = len(self._rows)
        self._items: dict[int, Definition] = {}

    def kind(self, at: int) -> str:
        kind: str = self._rows[at][1]
        return kind

    def parent(self, at: int) -> int:
        parent: int = self._rows[at][2]
        return parent

    def flags(self, at: int) -> int:
        flags: int = self._rows[at][14]
        return flags

    def around(self, line: int) -> list[int]:
        """The definitions that a line is in, the outermost first."""
        return [at for at, row in enumerate(self._rows) if row[5] <= line <= row[7]]

    @property
    def names(self) -> list[str]:
        """The name of each."""
        return [from_sql(row[0]) for row in self._rows]

    @property
    def bodies(self) -> list[int]:
        """The scope that each opens, or -1."""
        return [row[4] for row in self._rows]

    def having(self, flag: int) -> list[int]:
        return [at for at, row in enumerate(self._rows) if row[14] & flag]

    def _made(self, at: int) -> Definition:
        item = self._items.get(at)
        if item is None:
            row = self._rows[at]
            bases = tuple(filter(None, row[12].split("\n")))
            item = self._items[at] = Definition._make(
                (from_sql(row[0]), *row[1:5], Span(*row[5:9]), *row[9:12], bases, *row[13:])
            )
        return item
