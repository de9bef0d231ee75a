from pathlib import Path

from codeplane.cli._command import command, emit
from codeplane.config import Places
from codeplane.session.checkout import Checkout
from codeplane.session.delta.lock import ExecutionLock


@command()
def cancel(root: Path, as_json: bool) -> None:
    """Ask the execution that runs to stop before it writes anything more."""
    lock = ExecutionLock(Checkout.find(root, Places.of_user()).state)
    holder = lock.holder() if lock.is_taken() else None
    if holder is not None:
        lock.request_cancel()
    text = f"Asked to stop: {holder.text}." if holder is not None else "No deltas are being executed."
    emit({"cancelled": holder is not None}, text, as_json=as_json)
