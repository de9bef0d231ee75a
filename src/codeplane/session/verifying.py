"""Edits tried out for a call: what they would break, before anything of the repository is touched."""

from collections.abc import Sequence

from codeplane.session.call import Call
from codeplane.verify import Change, Check, Verification


def verified(call: Call, change: Change, wanted: Sequence[Check]) -> Verification:
    """What comes of the edits, by each of the checks that are wanted."""
    # What runs tests and linters is loaded by the first call that tries something out: few do.
    from codeplane.session.checking import checked

    return checked(call, change, wanted)
