import sys
from contextlib import suppress
from pathlib import Path

import click

from codeplane.cli._command import command, emit
from codeplane.config import Places, TrustRecord
from codeplane.core.errors import AlreadyServing, CodePlaneError, InvalidArgument
from codeplane.git import locate
from codeplane.index import drop_index
from codeplane.mutation.journal import has_cut_off
from codeplane.server.transport.link import socket_path
from codeplane.session import Checkout
from codeplane.session.claim import take
from codeplane.session.operation.recovery import settle
from codeplane.session.workspaces.memory_session import memory_workspaces
from codeplane.storage import StateDir, write_private


@command()
@click.option("--yes", is_flag=True, help="Don't ask for confirmation.")
def clear(root: Path, as_json: bool, yes: bool) -> None:
    """Remove CodePlane's state directory from the repository.

    Everything CodePlane keeps for the repository is deleted: index, log of changes, trust. Your files and
    .cplignore stay, and so do files that you write in the state directory and share: config.yaml,
    contexts.yaml, toolchain.toml, packs, surfaces, seeds and overrides. These are named. Refused while a
    server is running; does nothing if there is no state directory.
    """
    state = StateDir.at(locate(root))
    if not state.is_cleared and not yes:
        _confirm(state)
    is_removed = _remove(state, Places.of_user())
    shared = state.shared() if state.exists else []
    text = f"Removed {state.path}." if is_removed else f"Nothing to remove in {state.path.parent}."
    if shared:
        text += f" Kept what you share: {', '.join(shared)}."
    emit({"removed": is_removed, "path": str(state.path), "kept": shared}, text, as_json=as_json)


def _remove(state: StateDir, places: Places) -> bool:
    if not state.exists:
        return state.remove()
    if state.is_cleared:
        return False
    # Worked out, not read from server.json: that file may be the repository's, and name another's socket.
    socket = socket_path(places.runtime_dir, state.path)
    try:
        lock = take(state)
    except AlreadyServing:
        if state.is_cleared:
            return False
        raise
    try:
        if state.is_cleared:
            # Another clear has been here while this one waited; what is left is the lock just taken.
            state.remove()
            return False
        _settle(state, places)
        # Linked worktrees keep their view in the index here; it is not taken from under their servers.
        drop_index(state.index_file)
        TrustRecord(places.trust_file).revoke(state.path.parent, write_private)
        if socket.is_socket() and not socket.parent.is_symlink():
            socket.unlink(missing_ok=True)
        return state.remove()
    finally:
        lock.release()


def _settle(state: StateDir, places: Places) -> None:
    """Finishes or takes back what a crash has cut off: without the journal nobody could any more."""
    if not has_cut_off(state.path):
        return
    # A repository that cannot be opened can be cleared all the same.
    with suppress(CodePlaneError):
        settle(Checkout.find(state.path.parent, places))


def _confirm(state: StateDir) -> None:
    if not sys.stdin.isatty():
        raise InvalidArgument(f"This would remove {state.path}.", hints=["cpl clear --yes"])
    shared = state.shared()
    rest = f"everything in it but {', '.join(shared)}" if shared else "everything in it"
    if names := memory_workspaces(state):
        rest += f", with the edits of workspaces in memory ({', '.join(names)})"
    click.confirm(f"Remove {state.path} and {rest}?", abort=True, err=True)
