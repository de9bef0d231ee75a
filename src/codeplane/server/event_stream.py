"""Rows of the ledger as they come, for whoever listens over HTTP."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Final

from codeplane.ledger.chain import Entry

_MOST_REPLAYED: Final = 1_000
_MOST_WAITING: Final = 1_000
_ALIVE_SEC: Final = 15.0
_ALIVE: Final = b": alive\n\n"


@dataclass(eq=False)
class _Listener:
    """One open stream: what it has not been sent yet, and how much it was too slow for."""

    loop: asyncio.AbstractEventLoop
    waiting: deque[bytes] = field(default_factory=deque)
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    lost: int = 0

    def offer(self, frame: bytes) -> None:
        if len(self.waiting) >= _MOST_WAITING:
            self.waiting.popleft()
            self.lost += 1
        self.waiting.append(frame)
        self.wake.set()


class EventStream:
    """Operations and events of the ledger as server-sent events; the last ones are replayed on request."""

    def __init__(self) -> None:
        self._number = 0
        self._recent: deque[tuple[int, Entry]] = deque(maxlen=_MOST_REPLAYED)
        self._listeners: set[_Listener] = set()

    def publish(self, entry: Entry) -> None:
        """Takes a row from any thread."""
        self._number += 1
        self._recent.append((self._number, entry))
        if not self._listeners:
            return  # who comes later has the last ones made into frames
        frame = _frame(self._number, entry)
        for listener in list(self._listeners):
            try:
                listener.loop.call_soon_threadsafe(listener.offer, frame)
            except RuntimeError:  # its loop has ended
                self._listeners.discard(listener)

    async def frames(self, after: int | None = None) -> AsyncIterator[bytes]:
        """Frames from now on; those behind a number first, as far as they are still known."""
        listener = _Listener(asyncio.get_running_loop())
        if after is not None:
            recent = list(self._recent)
            listener.waiting.extend(_frame(number, entry) for number, entry in recent if number > after)
        self._listeners.add(listener)
        try:
            yield _ALIVE
            while True:
                while listener.waiting:
                    yield listener.waiting.popleft()
                if listener.lost:
                    yield f'event: lost\ndata: {{"count":{listener.lost}}}\n\n'.encode()
                    listener.lost = 0
                listener.wake.clear()
                try:
                    await asyncio.wait_for(listener.wake.wait(), _ALIVE_SEC)
                except TimeoutError:
                    yield _ALIVE
        finally:
            self._listeners.discard(listener)


def _frame(number: int, entry: Entry) -> bytes:
    body = {"kind": entry.kind, "task": entry.task, **entry.body}
    data = json.dumps(body, separators=(",", ":"), default=str)
    return f"id: {number}\nevent: {entry.kind}\ndata: {data}\n\n".encode()
