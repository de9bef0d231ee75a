from pathlib import Path

import click

from codeplane.cli._command import command, emit
from codeplane.cli._progress import ProgressLine
from codeplane.config import Places
from codeplane.index import drop_index
from codeplane.session import Checkout, RepoSession
from codeplane.session.claim import claim


@click.group()
def debug() -> None:
    """Commands for operators; not needed day to day."""


@command(name="index-rebuild")
def index_rebuild(root: Path, as_json: bool) -> None:
    """Rebuild the index from scratch.

    Everything else in the state directory stays. Refused while a server is running.
    """
    checkout = Checkout.find(root, Places.of_user())
    lock = claim(checkout)
    try:
        size = drop_index(checkout.index_file)
        repo = RepoSession.open(checkout)
        try:
            epoch = repo.index.refresh(ProgressLine("Indexing"))
            files = repo.index.state().files
        finally:
            repo.close()
    finally:
        lock.release()
    report = {"dropped_bytes": size, "files": files, "epoch": epoch}
    emit(report, f"Rebuilt the index: {files} files.", as_json=as_json)


debug.add_command(index_rebuild)
