"""An event store in memory, so that a client can resume a stream the server closed."""

from __future__ import annotations

from itertools import count

from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp.types import JSONRPCMessage


class EventLog(EventStore):
    def __init__(self) -> None:
        self._ids = count(1)
        self._events: dict[str, tuple[str, JSONRPCMessage | None]] = {}

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        event_id = str(next(self._ids))
        self._events[event_id] = (stream_id, message)
        return event_id

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        if last_event_id not in self._events:
            return None
        stream_id, _ = self._events[last_event_id]
        for event_id, (stream, message) in list(self._events.items()):
            later = int(event_id) > int(last_event_id)
            if later and stream == stream_id and message is not None:
                await send_callback(EventMessage(message, event_id))
        return stream_id
