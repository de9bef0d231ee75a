"""Waiting a moment for a lock that another program holds: most are held for milliseconds."""

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
    """What `act` returns, tried again while it meets a lock; `GitBusy` when that lasts.

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
