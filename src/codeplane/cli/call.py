import sys
from pathlib import Path

import click

from codeplane.cli._command import command, emit
from codeplane.cli._tool import call_tool
from codeplane.config import Places
from codeplane.core.documents import decode_json
from codeplane.core.errors import InvalidArgument
from codeplane.session.checkout import Checkout


@command()
@click.argument("tool")
@click.argument("arguments", default="{}")
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Override a setting.")
def call(root: Path, as_json: bool, tool: str, arguments: str, assignments: tuple[str, ...]) -> None:
    """Call any tool from the shell.

    ARGUMENTS is a JSON object; `-` reads it from standard input. The call goes to the running
    server, or runs in this process if there is none. Prints the text that an agent reads; with --json
    the whole answer as data.
    """
    try:
        text = sys.stdin.read() if arguments == "-" else arguments
        values = decode_json(text or "{}")
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(
            f"The arguments are not JSON: {error}.", hints=[f"cpl call {tool} '{{}}'"]
        ) from error
    checkout = Checkout.find(root, Places.of_user(), assignments)
    answer = call_tool(checkout, tool, values, assignments)
    emit(answer.body, answer.text, as_json=as_json)
    sys.exit(1 if answer.is_error else 0)
