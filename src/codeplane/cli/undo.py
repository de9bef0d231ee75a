import sys
from pathlib import Path

import click

from codeplane.cli._command import command, emit
from codeplane.cli._tool import call_tool
from codeplane.config import Places
from codeplane.session.checkout import Checkout


@command()
@click.argument("operation", required=False)
@click.option("--dry-run", "-n", is_flag=True, help="Show what would change without changing it.")
def undo(root: Path, as_json: bool, operation: str | None, dry_run: bool) -> None:
    """Take a recorded change back: OPERATION, or the last one, an edit or an operation of git.

    Refused if a file has changed since an edit, or HEAD has moved since a git operation. The undo is recorded
    too, so it can be undone.
    """
    checkout = Checkout.find(root, Places.of_user())
    arguments = {"operation": operation or "last", "dry_run": dry_run}
    answer = call_tool(checkout, "undo", {key: one for key, one in arguments.items() if one})
    emit(answer.body, answer.text, as_json=as_json)
    sys.exit(1 if answer.is_error else 0)
