import asyncio
import json
import signal
import sys
from pathlib import Path
from typing import Any

import click

from codeplane.cli._command import as_json_text, command, emit
from codeplane.config import Places
from codeplane.core.errors import InvalidArgument
from codeplane.server.host import call_once
from codeplane.session.checkout import Checkout


@command()
@click.argument("tool")
@click.argument("arguments", default="{}")
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Override a setting.")
def call(root: Path, as_json: bool, tool: str, arguments: str, assignments: tuple[str, ...]) -> None:
    """Call any tool from the shell.

    ARGUMENTS is a JSON object; `-` reads it from standard input. The call goes through the running
    server, or runs in this process when there is none. Prints the result; with --json the whole answer.
    """
    try:
        text = sys.stdin.read() if arguments == "-" else arguments
        given = json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(
            f"The arguments are not JSON: {error}.", hints=[f"cpl call {tool} '{{}}'"]
        ) from error
    checkout = Checkout.find(root, Places.of_user(), assignments)
    body, is_error = asyncio.run(_call(checkout, tool, given, assignments))
    shown = as_json_text(body.get("error", body.get("result")), indent=2)
    emit(body, shown, as_json=as_json)
    sys.exit(1 if is_error else 0)


async def _call(
    checkout: Checkout, tool: str, given: object, assignments: tuple[str, ...]
) -> tuple[dict[str, Any], bool]:
    """A signal cancels the call; one that writes ends first, so that nothing is left half done."""
    task = asyncio.ensure_future(call_once(checkout, tool, given, assignments))
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
