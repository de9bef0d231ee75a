from pathlib import Path

from codeplane.cli._command import command, emit
from codeplane.config import Places
from codeplane.core.errors import DeltaBusy
from codeplane.session.checkout import Checkout
from codeplane.session.delta.lock import ExecutionLock


@command()
def unlock(root: Path, as_json: bool) -> None:
    """Clear what an execution that has died left behind.

    The lock itself ends with its process. One that is held is refused, with who holds it since when.
    """
    lock = ExecutionLock(Checkout.find(root, Places.of_user()).state)
    if lock.is_taken():
        holder = lock.holder()
        raise DeltaBusy(
            f"The lock is held: {holder.text if holder else 'by an unknown process'}.",
            hints=["cpl delta cancel"],
        )
    holder = lock.holder()
    text = (
        f"Process {holder.pid} has died while it executed {holder.plan}; the next call settles it."
        if holder is not None
        else "Nothing is locked."
    )
    emit({"locked": False, "died": holder.plan if holder is not None else None}, text, as_json=as_json)
