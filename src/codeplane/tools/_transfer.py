"""How tools talk to remotes."""

from codeplane.git.remote.transfer import Line
from codeplane.session import Call


def line_of(call: Call) -> Line:
    """How this call may talk to a remote."""
    checkout = call.repo.checkout
    seconds = checkout.settings.git.remote_timeout_sec
    return Line(checkout.repository, checkout.programs, seconds, call.check, call.progress)
