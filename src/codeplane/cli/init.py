from pathlib import Path

import click

from codeplane.cli._clients import CLIENTS, client_named, write_client
from codeplane.cli._command import command, emit
from codeplane.cli._ignore import CPLIGNORE
from codeplane.config import Places
from codeplane.core.errors import InvalidArgument
from codeplane.session.checkout import Checkout
from codeplane.storage import StateDir, write_public


@command()
@click.option("--client", metavar="NAME", help=f"Set up a client too: {', '.join(CLIENTS)}.")
@click.option("--print", "only_print", is_flag=True, help="Print the client's entry; write nothing.")
def init(root: Path, as_json: bool, client: str | None, only_print: bool) -> None:
    """Set up CodePlane in a repository; safe to repeat.

    Makes the state directory (git does not see it) and a .cplignore with the defaults. With --client,
    adds CodePlane's command to that client's project configuration; everything else in it stays.
    """
    if only_print and not client:
        raise InvalidArgument("--print goes with --client NAME.", hints=["cpl init --client claude --print"])
    chosen = client_named(client) if client else None
    if chosen is not None and only_print:
        emit({"file": chosen.file, "content": chosen.snippet()}, chosen.snippet(), as_json=as_json)
        return
    checkout = Checkout.find(root, Places.of_user())
    state = StateDir.create(checkout.root)
    ignore = checkout.root / ".cplignore"
    made_ignore = not ignore.exists() and not ignore.is_symlink()
    if made_ignore:
        write_public(ignore, CPLIGNORE.encode())
    report = {
        "root": str(checkout.root),
        "repo_id": state.repo_id,
        "cplignore_written": made_ignore,
    }
    lines = [f"CodePlane is set up in {checkout.root}."]
    if made_ignore:
        lines.append("Wrote .cplignore with the defaults.")
    if chosen is not None:
        outcome = write_client(chosen, checkout.root)
        report["client"] = {"name": client, "file": chosen.file, "outcome": outcome}
        lines.append(f"{chosen.title}: {chosen.file} {outcome}.")
    else:
        lines.append(f"Next: cpl init --client NAME ({', '.join(CLIENTS)}), or cpl up.")
    emit(report, "\n".join(lines), as_json=as_json)
