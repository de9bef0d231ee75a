"""One tool call from a command."""

import asyncio
import signal
import sys
from typing import TYPE_CHECKING

from codeplane.server.host import call_once
from codeplane.session.checkout import Checkout

if TYPE_CHECKING:
    from codeplane.server.answer import Answer


def call_tool(
    checkout: Checkout, tool: str, arguments: object, assignments: tuple[str, ...] = ()
) -> "Answer":
    """The whole answer: from the running server, or from this process."""
    return asyncio.run(_call(checkout, tool, arguments, assignments))


async def _call(checkout: Checkout, tool: str, arguments: object, assignments: tuple[str, ...]) -> "Answer":
    """A signal cancels the call; one that writes ends first, so that nothing is left half done."""
    task = asyncio.ensure_future(call_once(checkout, tool, arguments, assignments))
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
