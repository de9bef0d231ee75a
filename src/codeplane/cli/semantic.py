import sys
from pathlib import Path

import click

from codeplane.cli._command import command, emit
from codeplane.cli._tool import call_tool
from codeplane.config import Places
from codeplane.core.errors import InvalidArgument
from codeplane.session.checkout import Checkout


@command()
@click.argument("action", type=click.Choice(["refresh", "status", "clear", "import"]))
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--context", "contexts", multiple=True, help="Build context, such as python:. (repeatable).")
@click.option("--path", "paths", multiple=True, help="With refresh: a file (repeatable).")
@click.option("--commit", default="HEAD", help="With import: the commit FILE was made of; by default HEAD.")
@click.option("--base", help="With import: the directory that paths in FILE are relative to.")
def semantic(
    root: Path,
    as_json: bool,
    action: str,
    file: Path | None,
    contexts: tuple[str, ...],
    paths: tuple[str, ...],
    **options: str | None,
) -> None:
    """Run semantic indexers, or show what they know.

    refresh runs the indexers that are installed for the repository's build contexts, in a copy of the working
    tree. status lists them, their last runs and how fresh the facts are. clear forgets the facts. import
    reads FILE, a SCIP index made elsewhere. refresh and import need a trusted repository.
    """
    if (file is not None) != (action == "import"):
        raise InvalidArgument(
            "import needs a FILE, and the others none.", hints=["cpl semantic import index.scip"]
        )
    checkout = Checkout.find(root, Places.of_user())
    if action == "status":
        answer = call_tool(checkout, "semantic_status", {})
    else:
        arguments: dict[str, object] = {"action": action, "contexts": list(contexts), "files": list(paths)}
        if file is not None:
            arguments |= {"index": str(file.absolute()), **options}
        answer = call_tool(checkout, "semantic_refresh", {key: one for key, one in arguments.items() if one})
    emit(answer.body, answer.text, as_json=as_json)
    sys.exit(1 if answer.is_error else 0)
