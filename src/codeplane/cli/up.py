import asyncio
import json
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import click

from codeplane.cli._clients import connection_lines
from codeplane.cli._command import command, without_refactoring
from codeplane.cli._progress import ProgressLine
from codeplane.config import Places
from codeplane.server.runtime import Runtime
from codeplane.session import Checkout
from codeplane.session.claim import claim
from codeplane.storage import ServerLock, Serving


@command()
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Override a setting.")
@click.option("--no-refactor", is_flag=True, help="Leave out the refactoring tools.")
def up(root: Path, as_json: bool, assignments: tuple[str, ...], no_refactor: bool) -> None:
    """Serve the repository in the foreground; Ctrl+C stops.

    Prints the endpoint and how to add CodePlane to a client. Creates the state directory if it is missing.
    Refuses to start if the repository is already being served.
    """
    places = Places.of_user()
    checkout = Checkout.find(root, places, (*assignments, *without_refactoring(no_refactor)))
    lock = claim(checkout)

    def started(serving: Serving) -> None:
        if as_json:
            click.echo(json.dumps({"url": serving.url, "mcp": f"{serving.url}/mcp", "pid": serving.pid}))
        else:
            click.echo(_render_banner(checkout, serving))

    while asyncio.run(_serve(checkout, places, lock, started)):
        lock = claim(checkout)


async def _serve(
    checkout: Checkout, places: Places, lock: ServerLock, started: Callable[[Serving], None]
) -> bool:
    """Tells whether the server has ended to begin anew."""
    runtime = Runtime(checkout, places, lock, "cpl up", ProgressLine("Indexing"))
    loop = asyncio.get_running_loop()
    serving = asyncio.ensure_future(runtime.run(started))

    def end() -> None:
        """The first signal asks; the second does not wait for anybody, nor does one that comes while the
        server ends to begin anew."""
        runtime.is_to_begin_anew = False
        if runtime.stop.is_set():
            serving.cancel()
        runtime.stop.set()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, end)
    with suppress(asyncio.CancelledError):
        await serving
    return runtime.is_to_begin_anew


def _render_banner(checkout: Checkout, serving: Serving) -> str:
    lines = [
        f"CodePlane serves {checkout.root}",
        f"  MCP     {serving.url}/mcp   (also /mcp/full, /mcp/read and /mcp/controller)",
        f"  token   {checkout.state.token_file}",
        f'  health  curl -H "Authorization: Bearer $(cat {checkout.state.token_file})" {serving.url}/health',
        "",
        "Add it to your client (stdio; it joins this server and needs no token):",
        *connection_lines(checkout.root),
        "",
        "Ctrl+C stops.",
    ]
    return "\n".join(lines)
