"""How often a host is asked: the user's limit, and the pauses that the host asks for."""

import threading
from collections import deque
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final

from codeplane.connectors.timing import Clock, Deadline
from codeplane.core.errors import ConnectorRateLimited

_WINDOW_SEC: Final = 60.0
_LONGEST_BLOCK_SEC: Final = 900.0
_FIRST_PAUSE_SEC: Final = 0.5
_LONGEST_PAUSE_SEC: Final = 8.0


class Pacing:
    """Counts the requests of the last minute for each host, and knows which hosts asked for a pause."""

    def __init__(self, clock: Clock, requests_per_minute: int) -> None:
        self._clock = clock
        self._limit = requests_per_minute
        self._starts: dict[str, deque[float]] = {}
        self._blocks: dict[str, float] = {}
        self._lock = threading.Lock()

    def await_turn(self, host: str, deadline: Deadline) -> None:
        """Waits until the host may be asked; `ConnectorRateLimited` where that is after the deadline."""
        while (wait := self._claim_turn(host)) > 0:
            if wait >= deadline.remaining():
                raise ConnectorRateLimited(
                    f"{host} can't be asked again for {wait:.0f} s.",
                    hints=["Ask again then; the user's limit is connectors.requests_per_minute."],
                    host=host,
                    retry_after_sec=round(wait, 1),
                )
            deadline.pause(wait)

    def block_host(self, host: str, seconds: float) -> None:
        """Keeps a host from being asked for as long as it said, within reason."""
        with self._lock:
            self._blocks[host] = self._clock.monotonic() + min(seconds, _LONGEST_BLOCK_SEC)

    def _claim_turn(self, host: str) -> float:
        with self._lock:
            now = self._clock.monotonic()
            block_end = self._blocks.get(host, now)
            if block_end > now:
                return block_end - now
            starts = self._starts.setdefault(host, deque())
            while starts and starts[0] <= now - _WINDOW_SEC:
                starts.popleft()
            if len(starts) >= self._limit:
                return starts[0] + _WINDOW_SEC - now
            starts.append(now)
            return 0.0


def backoff_pause(attempt: int, clock: Clock) -> float:
    """A random part of a pause that doubles with each attempt, so that clients don't come back together."""
    longest = min(_LONGEST_PAUSE_SEC, _FIRST_PAUSE_SEC * float(2**attempt))
    return clock.chance() * longest


def retry_after(header: str | None, clock: Clock) -> float | None:
    """The seconds of a Retry-After header, which has a number or a date; None for anything else."""
    if header is None or len(header) > 64:
        return None
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, date.timestamp() - clock.wall())
