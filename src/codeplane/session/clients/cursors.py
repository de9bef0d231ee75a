"""Where a long answer goes on: what a tool keeps between two pages of it."""

import secrets
import time
from collections import OrderedDict
from typing import Final, TypeVar

from codeplane.core.errors import CursorGone

T = TypeVar("T")

_MOST: Final = 50
_LIFE_SEC: Final = 3600


class Cursors:
    """The cursors of one session. One can be used again until it is too old or too many are newer."""

    def __init__(self) -> None:
        self._entries: OrderedDict[str, tuple[float, object]] = OrderedDict()

    def keep(self, state: object) -> str:
        """A cursor that `resume` takes."""
        cursor = f"cur_{secrets.token_hex(6)}"
        self._entries[cursor] = (time.monotonic(), state)
        while len(self._entries) > _MOST:
            self._entries.popitem(last=False)
        return cursor

    def resume(self, cursor: str, kind: type[T]) -> T:
        """What was kept; an error where there is nothing of that kind any more."""
        made_at, state = self._entries.get(cursor, (0.0, None))
        if not isinstance(state, kind) or time.monotonic() - made_at > _LIFE_SEC:
            raise CursorGone(
                f"There is no cursor {cursor[:40]!r} in this session.",
                hints=["Cursors last an hour and end with their session. Repeat the call without one."],
            )
        return state
