from pathlib import Path

import click

from codeplane.cli._command import command, emit
from codeplane.cli._progress import ProgressLine
from codeplane.config import Places
from codeplane.server.claim import claim
from codeplane.session import Checkout, RepoSession
from codeplane.storage.database import delete_database


@click.group()
def debug() -> None:
    """Commands for the operator, not needed day to day."""


@command(name="index-rebuild")
def index_rebuild(root: Path, as_json: bool) -> None:
    """Drop the index and build it anew.

    Everything else in the state directory stays. Refused while a server runs.
    """
    checkout = Checkout.find(root, Places.of_user())
    lock = claim(checkout)
    try:
        dropped = delete_database(checkout.state.index_files[0])
        repo = RepoSession.open(checkout)
        try:
            epoch = repo.index.refresh(ProgressLine("Indexing"))
            files = repo.index.state().files
        finally:
            repo.close()
    finally:
        lock.release()
    report = {"dropped_bytes": dropped, "files": files, "epoch": epoch}
    emit(report, f"Indexed {files} files anew.", as_json=as_json)


debug.add_command(index_rebuild)
