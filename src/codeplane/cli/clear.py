import sys
from pathlib import Path

import click

from codeplane.cli._command import command, emit
from codeplane.config import Places, TrustRecord
from codeplane.core.errors import InvalidArgument
from codeplane.git import locate
from codeplane.server.claim import already_serving
from codeplane.storage import StateDir, write_private


@command()
@click.option("--yes", is_flag=True, help="Do not ask.")
def clear(root: Path, as_json: bool, yes: bool) -> None:
    """Remove CodePlane's state directory from the repository.

    Everything that CodePlane keeps for the repository goes with it; your files stay, .cplignore too.
    Refused while a server runs. Removing what is not there is fine.
    """
    state = StateDir.at(locate(root))
    if state.exists and not yes:
        _confirm(state)
    places = Places.of_user()
    removed = False
    if state.exists:
        lock = state.lock()
        if not lock.acquire():
            raise already_serving(state)
        try:
            TrustRecord(places.trust_file).revoke(state.path.parent, write_private)
            removed = state.remove()
        finally:
            lock.release()
    else:
        removed = state.remove()
    text = f"Removed {state.path}." if removed else f"There was nothing to remove in {state.path.parent}."
    emit({"removed": removed, "path": str(state.path)}, text, as_json=as_json)


def _confirm(state: StateDir) -> None:
    if not sys.stdin.isatty():
        raise InvalidArgument(f"{state.path} would be removed.", hints=["cpl clear --yes"])
    click.confirm(f"Remove {state.path} and everything that CodePlane keeps in it?", abort=True, err=True)
