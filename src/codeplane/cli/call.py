import asyncio
import json
import sys
from pathlib import Path

import click

from codeplane.cli._command import command, emit
from codeplane.config import Places
from codeplane.core.errors import InvalidArgument
from codeplane.server.host import call_once
from codeplane.session.checkout import Checkout


@command()
@click.argument("tool")
@click.argument("arguments", default="{}")
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Override a setting.")
def call(root: Path, as_json: bool, tool: str, arguments: str, assignments: tuple[str, ...]) -> None:
    """Call any tool: cpl call TOOL '{"json": "arguments"}'; `-` reads them from standard input.

    Goes through the running server, or runs in this process when there is none. Prints the result;
    with --json the whole answer.
    """
    text = sys.stdin.read() if arguments == "-" else arguments
    try:
        given = json.loads(text or "{}")
    except ValueError as error:
        raise InvalidArgument(
            f"The arguments are not JSON: {error}.", hints=[f"cpl call {tool} '{{}}'"]
        ) from error
    checkout = Checkout.find(root, Places.of_user(), assignments)
    body, is_error = asyncio.run(call_once(checkout, tool, given))
    shown = json.dumps(body.get("error", body.get("result")), indent=2, ensure_ascii=False)
    emit(body, shown, as_json=as_json)
    sys.exit(1 if is_error else 0)
