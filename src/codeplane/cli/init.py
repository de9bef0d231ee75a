import sys
from pathlib import Path
from typing import Any

import click

from codeplane.cli._clients import CLIENTS, client_named, write_client
from codeplane.cli._command import command, emit
from codeplane.cli._ignore import CPLIGNORE
from codeplane.cli._progress import ProgressLine
from codeplane.config import Places
from codeplane.core.errors import AlreadyServing, InvalidArgument
from codeplane.session import Checkout, RepoSession
from codeplane.session.claim import claim
from codeplane.storage import StateDir, write_public


@command()
@click.option("--client", metavar="NAME", help=f"Also set up a client: {', '.join(CLIENTS)}.")
@click.option("--print", "only_print", is_flag=True, help="Print the client's entry and write nothing.")
def init(root: Path, as_json: bool, client: str | None, only_print: bool) -> None:
    """Set up CodePlane in a repository; safe to repeat.

    Creates the state directory (invisible to git), a .cplignore that explains the defaults, the index, and
    .codeplane/contexts.yaml with the build contexts found. After Ctrl+C the next run resumes. With --client,
    also adds CodePlane to that client's project configuration and leaves the rest of it alone.
    """
    if only_print and not client:
        raise InvalidArgument("--print needs --client NAME.", hints=["cpl init --client claude --print"])
    selected_client = client_named(client) if client else None
    if selected_client is not None and only_print:
        emit(
            {"file": selected_client.file, "content": selected_client.snippet()},
            selected_client.snippet(),
            as_json=as_json,
        )
        return
    checkout = Checkout.find(root, Places.of_user())
    state = StateDir.create(checkout.root)
    ignore = checkout.root / ".cplignore"
    made_ignore = not ignore.exists() and not ignore.is_symlink()
    if made_ignore:
        write_public(ignore, CPLIGNORE.encode())
    report: dict[str, Any] = {
        "root": str(checkout.root),
        "repo_id": state.repo_id,
        "cplignore_written": made_ignore,
    }
    lines = [f"CodePlane is set up in {checkout.root}."]
    if made_ignore:
        lines.append("Wrote .cplignore, which explains what is left out by default.")
    report["index"], progress = _build_index(checkout)
    lines += progress
    if selected_client is not None:
        outcome = write_client(selected_client, checkout.root)
        report["client"] = {"name": client, "file": selected_client.file, "outcome": outcome}
        lines.append(f"{selected_client.title}: {selected_client.file} {outcome}.")
    else:
        lines.append(f"Next: cpl init --client NAME ({', '.join(CLIENTS)}), or cpl up.")
    emit(report, "\n".join(lines), as_json=as_json)


def _build_index(checkout: Checkout) -> tuple[dict[str, Any], list[str]]:
    """Brings the index up to date and writes contexts.yaml; a server that runs does the former by itself."""
    try:
        lock = claim(checkout)
    except AlreadyServing:
        return {"served": True}, ["A running server keeps the index up to date."]
    try:
        repo = RepoSession.open(checkout)
        try:
            repo.index.refresh(ProgressLine("Indexing"))
            wrote = repo.write_contexts()
        except KeyboardInterrupt:
            state = repo.index.state()
            progress = f"{state.files - state.unread} of {state.files} files are indexed"
            click.echo(f"\nStopped: {progress}. cpl init or cpl up continues from there.", err=True)
            sys.exit(130)
        else:
            state = repo.index.state()
        finally:
            repo.close()
    finally:
        lock.release()
    lines = [f"Indexed {state.files} files."]
    if wrote:
        lines.append(f"Wrote {checkout.state.contexts_file.relative_to(checkout.root)}.")
    return {"files": state.files, "epoch": state.epoch, "contexts_written": wrote}, lines
