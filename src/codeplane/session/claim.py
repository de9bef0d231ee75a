"""The right to serve a repository."""

from codeplane.core.errors import AlreadyServing
from codeplane.session.checkout import Checkout
from codeplane.storage import ServerLock, StateDir

# A start that is just failing may hold the lock for a moment.
_LOCK_WAIT_SEC = 0.3


def claim(checkout: Checkout) -> ServerLock:
    """Takes the right to serve, making the state directory when it is missing."""
    return take(StateDir.create(checkout.root))


def take(state: StateDir) -> ServerLock:
    """Takes the lock of a directory that is there, or says who has it."""
    lock = state.lock()
    if not lock.acquire(wait_sec=_LOCK_WAIT_SEC):
        raise already_serving(state)
    return lock


def already_serving(state: StateDir) -> AlreadyServing:
    serving = state.serving()
    if serving is None:
        return AlreadyServing(
            "Another process serves this repository, or is starting to.", root=str(state.path.parent)
        )
    return AlreadyServing(
        f"This repository is already being served: {serving.command}, pid {serving.pid}, {serving.url}.",
        hints=["cpl status", f"kill {serving.pid}"],
        root=str(state.path.parent),
        pid=serving.pid,
        url=serving.url,
    )
