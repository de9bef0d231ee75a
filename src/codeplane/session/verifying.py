"""Edits tried out for a call: what they would break, before anything of the repository is touched."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from codeplane.session.call import Call
from codeplane.verify import Change, Check, Checked, Verification
from codeplane.verify.parse import parses


def _parse(call: Call, change: Change) -> Checked:
    return parses(call.repo.index, change)


_CHECKS: Final[Mapping[Check, Callable[[Call, Change], Checked]]] = {"parse": _parse}


def verified(call: Call, change: Change, wanted: Sequence[Check]) -> Verification:
    """The checks that are wanted, each made once."""
    found = []
    for check in dict.fromkeys(wanted):
        call.check()
        found.append(_CHECKS[check](call, change))
    return Verification(tuple(found))
