"""Clocks that tests can move, and the time that is left of a request."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

_SLICE_SEC: Final = 0.2


def _keep_going() -> None:
    """Nobody has stopped the call."""


@dataclass(frozen=True)
class Clock:
    """Where connectors get time, sleep and chance from."""

    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random


@dataclass(frozen=True)
class Deadline:
    """How long a request may still take, and whether its caller still wants it."""

    clock: Clock
    seconds: float
    stall_sec: float
    check: Callable[[], None] = _keep_going
    start: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", self.clock.monotonic())

    def remaining(self) -> float:
        """Seconds until the request has to end; negative when it should have."""
        return self.start + self.seconds - self.clock.monotonic()

    def next_wait(self) -> float:
        """How long one step of an exchange may wait; `TimeoutError` when the time is up."""
        self.check()
        left = self.remaining()
        if left <= 0:
            raise TimeoutError("the time limit was reached")
        return min(left, self.stall_sec)

    def pause(self, seconds: float) -> None:
        """Sleeps in slices, so that a call that is cancelled ends soon."""
        end = self.clock.monotonic() + seconds
        while (left := end - self.clock.monotonic()) > 0:
            self.check()
            self.clock.sleep(min(left, _SLICE_SEC))
