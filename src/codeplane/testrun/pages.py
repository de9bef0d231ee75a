"""Failures that an answer had no room for, kept until somebody asks: a run is not made again for them."""

import secrets
import time
from typing import Final

from codeplane.core.errors import CursorGone
from codeplane.storage.database import Database

_TOOL: Final = "run_test_targets"
_LIFE_MS: Final = 3_600_000
_MOST: Final = 20


class Pages:
    """Texts by cursor, in a database: a caller whose every call is a process of its own finds them too."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, text: str) -> str:
        """A cursor for a text."""
        cursor = f"cur_{secrets.token_hex(6)}"
        now = int(time.time() * 1000)
        with self._database.write() as connection:
            connection.execute("INSERT INTO cursor VALUES (?, ?, ?, ?)", (cursor, _TOOL, text, now))
            connection.execute(
                "DELETE FROM cursor WHERE tool = ? AND (made_ms < ? OR cursor NOT IN"
                " (SELECT cursor FROM cursor WHERE tool = ? ORDER BY made_ms DESC, rowid DESC LIMIT ?))",
                (_TOOL, now - _LIFE_MS, _TOOL, _MOST),
            )
        return cursor

    def find(self, cursor: str) -> str:
        """The text of a cursor; CursorGone where there is none any more."""
        oldest = int(time.time() * 1000) - _LIFE_MS
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT steps FROM cursor WHERE cursor = ? AND tool = ? AND made_ms >= ?",
                (cursor, _TOOL, oldest),
            ).fetchone()
        if row is None:
            raise CursorGone(
                f"There is no cursor {cursor[:40]!r}.",
                hints=["Cursors last an hour. Run the tests again: run_test_targets {}"],
            )
        return str(row[0])
