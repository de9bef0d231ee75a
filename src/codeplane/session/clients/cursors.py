"""Where a long answer goes on: what a tool keeps between two pages of it."""

import secrets
import time
from collections import OrderedDict
from collections.abc import Sized
from typing import Final, TypeVar

from codeplane.core.errors import CursorGone

T = TypeVar("T")

_MOST: Final = 50
_LIFE_SEC: Final = 3600
_MOST_BYTES: Final = 16 << 20


class Cursors:
    """The cursors of one session. One can be used again until it is too old or too many are newer."""

    def __init__(self) -> None:
        self._entries: OrderedDict[str, tuple[float, object]] = OrderedDict()
        self._states: OrderedDict[str, Sized] = OrderedDict()  # of those that are not about the usual one

    def keep(self, state: object) -> str:
        """A cursor that `resume` takes."""
        cursor = f"cur_{secrets.token_hex(6)}"
        self._entries[cursor] = (time.monotonic(), state)
        while len(self._entries) > _MOST:
            self._states.pop(self._entries.popitem(last=False)[0], None)
        return cursor

    def bind(self, cursor: str, state: Sized) -> None:
        """Notes the state of the files that a cursor goes on in; the oldest end where there is no room."""
        self._states[cursor] = state
        while len(self._states) > 1 and sum(len(one) for one in self._states.values()) > _MOST_BYTES:
            self._entries.pop(self._states.popitem(last=False)[0], None)

    def state_of(self, cursor: str) -> Sized | None:
        """The state that a cursor goes on in; None where it is the usual one."""
        return self._states.get(cursor)

    def resume(self, cursor: str, kind: type[T]) -> T:
        """What was kept; an error where there is nothing of that kind any more."""
        made_at, state = self._entries.get(cursor, (0.0, None))
        if not isinstance(state, kind) or time.monotonic() - made_at > _LIFE_SEC:
            raise CursorGone(
                f"There is no cursor {cursor[:40]!r} in this session.",
                hints=["Cursors last an hour and end with their session. Repeat the call without one."],
            )
        return state
