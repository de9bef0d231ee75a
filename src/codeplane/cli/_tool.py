"""One tool call from a command."""

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from codeplane.server.host import call_once
from codeplane.session.checkout import Checkout

if TYPE_CHECKING:
    from codeplane.server.answer import Answer


def call_tool(
    checkout: Checkout,
    tool: str,
    arguments: object,
    assignments: tuple[str, ...] = (),
    progress: Callable[[float, float | None, str | None], None] | None = None,
) -> "Answer":
    """The whole answer: from the running server, or from this process."""

    async def tell(done: float, total: float | None, message: str | None) -> None:
        if progress is not None:
            progress(done, total, message)

    steps = tell if progress is not None else None
    return asyncio.run(_wait_for(call_once(checkout, tool, arguments, assignments, steps)))


async def _wait_for(call: "Coroutine[Any, Any, Answer]") -> "Answer":
    """A signal cancels the call; one that writes ends first, so that nothing is left half done."""
    task = asyncio.ensure_future(call)
    ended_by: list[int] = []

    def end(number: int) -> None:
        ended_by.append(number)
        task.cancel()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end, number)
    try:
        return await task
    except asyncio.CancelledError:
        sys.exit(128 + ended_by[0])
