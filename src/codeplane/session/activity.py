"""Whether a server answers calls at the moment: what can wait lets them go first."""

import threading


class Activity:
    """Counts the calls that run."""

    def __init__(self) -> None:
        self._running = 0
        self._changed = threading.Condition()

    @property
    def is_busy(self) -> bool:
        return self._running > 0

    def begin(self) -> None:
        """Notes that a call runs from now on."""
        with self._changed:
            self._running += 1

    def end(self) -> None:
        """Notes that a call has ended."""
        with self._changed:
            self._running -= 1
            self._changed.notify_all()

    def wait_for_rest(self, seconds: float) -> bool:
        """Waits until no call runs, at most so long; tells whether none does."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._running, seconds)
