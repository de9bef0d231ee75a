"""How tools talk to remotes."""

from codeplane.git.remote.transfer import Connection
from codeplane.session import Call


def line_of(call: Call) -> Connection:
    """How this call may talk to a remote."""
    checkout = call.repo.checkout
    seconds = checkout.settings.git.remote_timeout_sec
    return Connection(checkout.repository, checkout.programs, seconds, call.check, call.progress)
