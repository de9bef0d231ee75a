"""One repository, wired together, and the calls that run inside it."""

from codeplane.session.call import Call, Stop
from codeplane.session.checkout import Checkout
from codeplane.session.clients import ClientSession, Sessions
from codeplane.session.repo import RepoSession, RepoStatus

__all__ = [
    "Call",
    "Checkout",
    "ClientSession",
    "RepoSession",
    "RepoStatus",
    "Sessions",
    "Stop",
]
