"""Open event streams, so that a stopping server can say goodbye on each."""

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_GOODBYE = b'event: shutdown\r\ndata: {"reason":"server stopping"}\r\n\r\n'


class Streams:
    """Follows every `text/event-stream` response of the application that it wraps."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._open: dict[int, tuple[str, Send]] = {}
        self._ended: set[int] = set()
        self._count = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        key = self._count = self._count + 1

        async def followed(message: Message) -> None:
            if key in self._ended:
                return
            if message["type"] == "http.response.start" and _is_stream(message):
                self._open[key] = (scope["method"], send)
            await send(message)

        try:
            await self._app(scope, receive, followed)
        finally:
            self._open.pop(key, None)
            self._ended.discard(key)

    async def end(self, method: str | None = None) -> None:
        """Sends `shutdown` on the open streams (of one method) and closes them."""
        async with anyio.create_task_group() as group:
            for key, (opened_by, send) in list(self._open.items()):
                if method is None or opened_by == method:
                    del self._open[key]
                    self._ended.add(key)
                    group.start_soon(_say_goodbye, send)


async def _say_goodbye(send: Send) -> None:
    # A client that does not read must not hold up the others.
    with anyio.move_on_after(1):
        await send({"type": "http.response.body", "body": _GOODBYE, "more_body": False})


def _is_stream(message: Message) -> bool:
    return any(
        name.lower() == b"content-type" and value.startswith(b"text/event-stream")
        for name, value in message.get("headers", ())
    )
