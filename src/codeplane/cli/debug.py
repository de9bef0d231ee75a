from pathlib import Path

import click

from codeplane.cli._command import command, emit
from codeplane.git import locate
from codeplane.server.claim import already_serving
from codeplane.storage import StateDir


@click.group()
def debug() -> None:
    """Commands for the operator, not needed day to day."""


@command(name="index-rebuild")
def index_rebuild(root: Path, as_json: bool) -> None:
    """Drop the index, so that the next start builds it anew.

    Everything else in the state directory stays. Refused while a server runs.
    """
    state = StateDir.at(locate(root))
    dropped = 0
    if state.exists:
        lock = state.lock()
        if not lock.acquire():
            raise already_serving(state)
        try:
            dropped = sum(_drop(file) for file in state.index_files)
        finally:
            lock.release()
    text = f"Dropped {dropped} bytes of index." if dropped else "There was no index to drop."
    emit({"dropped_bytes": dropped}, text, as_json=as_json)


def _drop(file: Path) -> int:
    try:
        size = file.lstat().st_size
    except FileNotFoundError:
        return 0
    file.unlink()
    return size


debug.add_command(index_rebuild)
