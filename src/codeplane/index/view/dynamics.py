"""Where the files of a view make names at run time."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from codeplane.core.documents import decode_json
from codeplane.core.places import Place
from codeplane.core.slots import EpochSlot
from codeplane.languages.facts import ASKING
from codeplane.parsing.pack import sql_text
from codeplane.storage.database import Connection

if TYPE_CHECKING:
    from codeplane.index.view.view import View

_Positions = dict[str, list[tuple[int, int]]]
_ASKING: Final = EpochSlot[tuple[str, ...], _Positions]("members that are asked for by text")
_SET_BY_TEXT: Final = EpochSlot[None, frozenset[str]]("members that are set by text")


class Dynamics:
    """Places that load, ask or set something by a name that is not written there."""

    def __init__(self, connection: Connection, sources: "View") -> None:
        self._connection, self._sources = connection, sources

    def importing(self) -> list[str]:
        """The files that import modules whose names are made at run time."""
        rows = self._connection.execute(
            "SELECT DISTINCT blob FROM dynamic WHERE pattern = 'dynamic_import' AND computed"
        ).fetchall()
        return sorted(path for (blob,) in rows for path in self._sources.paths_of(blob))

    def loading(self) -> list[tuple[str, str]]:
        """The files that load a module where they need it, and the modules as they are written there."""
        rows = self._connection.execute(
            "SELECT DISTINCT blob, literals FROM dynamic WHERE pattern = 'dynamic_import' AND NOT computed"
        ).fetchall()
        literals_of_blobs = [(blob, text) for blob, literals in rows for text in decode_json(literals)]
        return sorted(
            (path, text) for blob, text in literals_of_blobs for path in self._sources.paths_of(blob)
        )

    def asking(self, patterns: Sequence[str] = ASKING) -> dict[str, list[tuple[int, int]]]:
        """The files that ask for members by names that are made at run time, with lines and columns."""
        key = tuple(patterns)
        return self._sources.memo.once(_ASKING, key, lambda: self._computed_places(patterns))

    def _computed_places(self, patterns: Sequence[str]) -> dict[str, list[tuple[int, int]]]:
        marks = ", ".join("?" * len(patterns))
        rows = self._connection.execute(
            f"SELECT blob, line, column FROM dynamic WHERE pattern IN ({marks}) AND computed"
            " ORDER BY blob, position",
            patterns,
        ).fetchall()
        places: dict[int, list[tuple[int, int]]] = {}
        for blob, line, column in rows:
            places.setdefault(blob, []).append((line, column))
        return dict(
            sorted((path, some) for blob, some in places.items() for path in self._sources.paths_of(blob))
        )

    def writing(self, name: str) -> list[str]:
        """The files that give a value to a member of this name behind something that they do not know."""
        rows = self._connection.execute(
            "SELECT blob FROM written WHERE name = ?", (sql_text(name),)
        ).fetchall()
        return sorted(path for (blob,) in rows for path in self._sources.paths_of(blob))

    def set_by_text(self) -> frozenset[str]:
        """The members that get values by names in strings."""
        return self._sources.memo.once(_SET_BY_TEXT, None, self._find_set_by_text)

    def _find_set_by_text(self) -> frozenset[str]:
        rows = self._connection.execute(
            "SELECT blob, literals FROM dynamic WHERE pattern = 'setattr'"
        ).fetchall()
        literals = [decode_json(texts) for blob, texts in rows if self._sources.paths_of(blob)]
        return frozenset(name for names in literals for name in names)

    def sets_any(self, place: Place) -> bool:
        """Whether a definition gives values to members by names that are made at run time."""
        positions = self.asking(("setattr",)).get(place.path)
        if not positions:
            return False
        span = self._sources.require_own_facts(place.path).definitions[place.definition].span
        return any(span.start_line <= line <= span.end_line for line, _ in positions)
