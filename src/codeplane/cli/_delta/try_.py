from pathlib import Path

import click

from codeplane.cli._command import command
from codeplane.cli._delta._run import run_tool
from codeplane.core.documents import Malformed, decode_json
from codeplane.core.errors import InvalidArgument


@command(name="try")
@click.argument("path")
@click.argument("operations")
@click.option("--assertions", default="[]", help="Checks of the result, as JSON.")
def try_(root: Path, as_json: bool, path: str, operations: str, assertions: str) -> None:
    """Try operations on a file without writing it.

    OPERATIONS is JSON, a list or one object, such as '{"operation": "add_import", "import": "import re"}'.
    Prints the places that match, the diff, and assertions that hold only afterwards.
    """
    try:
        parts = [decode_json(text) for text in (operations, assertions)]
    except Malformed as error:
        raise InvalidArgument(f"OPERATIONS and --assertions are JSON: {error}.") from error
    lists = [part if isinstance(part, list) else [part] for part in parts]
    run_tool(
        root, "delta_try", {"path": path, "operations": lists[0], "assertions": lists[1]}, as_json=as_json
    )
