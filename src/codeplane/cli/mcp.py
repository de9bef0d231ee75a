import asyncio
import gc
import signal
from pathlib import Path

import click

from codeplane.cli._command import command, without_refactoring
from codeplane.config import Places
from codeplane.server.host import Host
from codeplane.server.transport.front import Front
from codeplane.server.transport.link import PROFILE_NAMES
from codeplane.server.transport.stdio import StdioLines
from codeplane.session.checkout import Checkout


@command()
@click.option(
    "--profile",
    type=click.Choice(PROFILE_NAMES),
    default=PROFILE_NAMES[0],
    show_default=True,
    help="Set of tools to offer.",
)
@click.option("--workspace", metavar="NAME", help="Work in this workspace alone; see `cpl workspace create`.")
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Override a setting.")
@click.option(
    "--no-refactor", is_flag=True, help="Leave out the refactoring tools, if this process becomes the server."
)
def mcp(
    root: Path,
    as_json: bool,  # noqa: ARG001 - every command has --json; stdio speaks JSON anyway
    profile: str,
    workspace: str | None,
    assignments: tuple[str, ...],
    no_refactor: bool,
) -> None:
    """Speak MCP over stdin and stdout.

    This is what client configurations run. It joins the repository's running server, or becomes the server.
    With --workspace, every call reads and writes that workspace and nothing else. In a linked worktree, it
    joins the server of the primary checkout where one runs.
    When that server ends, another `cpl mcp` takes over, and calls that had not started are not lost.
    """
    # Loading the server makes many objects that all live on: collecting among them is waste.
    gc.disable()
    places = Places.of_user()
    assignments = (*assignments, *without_refactoring(no_refactor))
    checkout = Checkout.find(root, places, assignments)
    if workspace is not None:
        # Only who names one needs what reads records of workspaces.
        from codeplane.session.workspaces.lookup import find_record

        workspace = find_record(checkout, workspace).id
    asyncio.run(_carry(Host(checkout, places, profile, "cpl mcp", assignments, workspace)))


async def _carry(host: Host) -> None:
    lines = StdioLines(host.checkout.settings.server.max_body_bytes)
    lines.start()
    front = asyncio.ensure_future(Front(lines, host.connect).run())
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, front.cancel)
    loop.call_later(5, gc.enable)
    try:
        await front
    except asyncio.CancelledError:
        pass
    finally:
        await host.stop()
