"""Retrying while another program holds a lock, which most do for milliseconds."""

import time
from collections.abc import Callable
from typing import Final, TypeVar

import pygit2

from codeplane.core.errors import GitBusy
from codeplane.git.repo.repository import explain_error

T = TypeVar("T")

_LONGEST_SEC: Final = 2.0
_PAUSE_SEC: Final = 0.05


def retry_locked(act: Callable[[], T]) -> T:
    """Returns what `act` does, retrying while it meets a lock; raises `GitBusy` if that lasts.

    `act` changes nothing before it has the lock.
    """
    deadline = time.monotonic() + _LONGEST_SEC
    while True:
        try:
            return act()
        except pygit2.GitError as error:
            if not isinstance(explain_error(error), GitBusy) or time.monotonic() > deadline:
                raise
        time.sleep(_PAUSE_SEC)
