"""Who may work on which paths: batches without a common one go on at once, others as they came."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

# How often a waiting batch looks whether its call is still wanted.
_LOOK_SEC = 0.05


@dataclass(frozen=True, eq=False)
class _Ticket:
    exclusive: frozenset[str]
    shared: frozenset[str]

    def excludes(self, other: "_Ticket") -> bool:
        return bool(
            self.exclusive & other.exclusive or self.exclusive & other.shared or self.shared & other.exclusive
        )


class PathLocks:
    """Locks within one process: only the holder of the server lock changes the tree."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._tickets: list[_Ticket] = []  # in the order they came; those that wait as well

    @contextmanager
    def held(
        self, exclusive: frozenset[str], shared: frozenset[str], check: Callable[[], None]
    ) -> Iterator[None]:
        """Waits for earlier batches with the same paths; `check` ends the wait by raising."""
        ticket = _Ticket(exclusive, shared)
        with self._changed:
            self._tickets.append(ticket)
        try:
            with self._changed:
                while self._must_wait(ticket):
                    self._changed.wait(_LOOK_SEC)
                    check()
            yield
        finally:
            with self._changed:
                self._tickets.remove(ticket)
                self._changed.notify_all()

    def _must_wait(self, ticket: _Ticket) -> bool:
        for other in self._tickets:
            if other is ticket:
                return False
            if other.excludes(ticket):
                return True
        raise AssertionError("BUG: a ticket that waits is not in the queue")
