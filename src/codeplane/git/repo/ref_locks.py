"""Removing stale ref locks that a crashed operation left behind."""

import stat
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from codeplane.git.repo.repository import Repository
from codeplane.git.repo.state import ORIG_HEAD

_OF_WORKTREE: Final = ("HEAD", ORIG_HEAD)
_SHARED: Final = ("packed-refs", "refs/stash")
_BRANCHES: Final = "refs/heads/"
# A reference is locked for milliseconds; a lock held this long has lost its owner.
_LONGEST_SEC: Final = 2.0


def drop_ref_locks(repository: Repository, branches: Iterable[str], since: float) -> list[str]:
    """Removes ref locks no older than the operation, and says which; older ones are somebody else's."""
    names = [f"{_BRANCHES}{branch}" for branch in branches]
    places = [
        *(repository.git_dir / f"{name}.lock" for name in _OF_WORKTREE),
        *(repository.common_dir / f"{name}.lock" for name in (*_SHARED, *names)),
    ]
    return [f"{place} was left by it; it has been removed." for place in places if _drop_stale(place, since)]


def _drop_stale(place: Path, since: float) -> bool:
    mtime = _mtime(place)
    if mtime is None or mtime < since:
        return False
    time.sleep(max(0.0, min(_LONGEST_SEC, mtime + _LONGEST_SEC - time.time())))
    if _mtime(place) != mtime:
        return False
    place.unlink(missing_ok=True)
    return True


def _mtime(place: Path) -> float | None:
    try:
        status = place.lstat()
    except OSError:
        return None
    return status.st_mtime if stat.S_ISREG(status.st_mode) else None
