"""Hints from the operating system that the working tree may have changed.

A hint only says when a look is worth while; what has changed is found by looking. Nothing is missed for
want of a hint, because every call looks anyway: at what has happened where the kernel's own record of events
is followed, at everything where it is not.
"""

import logging
import os
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.working_tree.tree import WorkingTree

_log = logging.getLogger(__name__)

# Watches are a resource that all programs of a user share.
_MOST_DIRECTORIES: Final = 20_000
_MOST_EVENTS: Final = 1000
_TICK_MS: Final = 1000
_QUIET_MS: Final = 100
_LONGEST_GROUP_MS: Final = 1500
_AGAIN_SEC: Final = 0.5
_RETRY_SEC: Final = 60


class Watch:
    """A thread that calls `changed` after events that may matter, and whenever it cannot be sure.

    Only directories that the rules let in are watched. `problem` says why there are no hints, if so. With a
    `directory` for a file of its own, the tree follows its events itself; that needs Linux.
    """

    def __init__(
        self,
        tree: WorkingTree,
        changed: Callable[[], None],
        directory: Path | None = None,
        *,
        most: int = _MOST_DIRECTORIES,
    ) -> None:
        self.problem = ""
        self._tree = tree
        self._changed = changed
        self._directory = directory
        self._most = most
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run_thread, name="watch", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._tree.nudge()
            self._thread.join(2)
        self._tree.unfollow()

    def _run_thread(self) -> None:
        while not self._stop.is_set():
            try:
                if self._directory is not None:
                    self._follow_events(self._directory)
                else:
                    self._follow_directories(self._tree.directories())
            except FileNotFoundError:  # a directory has gone since it was listed
                self._changed()
                self._stop.wait(_AGAIN_SEC)
            except (OSError, RuntimeError) as error:  # the latter is what the library raises
                self._give_up_for_now(str(error))

    def _follow_events(self, directory: Path) -> None:
        """Has the tree follow its events until that is not possible any more."""
        problem = self._tree.follow(directory)
        self._changed()  # the look that has all directories watched
        while not problem and not self._stop.is_set():
            self.problem = ""
            if self._tree.stirs(_TICK_MS / 1000):
                self._stop.wait(_QUIET_MS / 1000)
                # Every look makes an event too, and takes it at once.
                if not self._stop.is_set() and self._tree.stirs(0):
                    self._changed()
            problem = self._tree.unfollowed
        if problem and not self._stop.is_set():
            self._tree.unfollow()  # gives the watches back to other programs
            self._give_up_for_now(problem)

    def _follow_directories(self, directories: frozenset[RepoPath]) -> None:
        """Watches these directories until others have to be."""
        from watchfiles import watch  # not needed before the first look is over

        if len(directories) > self._most:
            self._give_up_for_now(f"there are more than {self._most} directories")
            return
        events = watch(
            *self._watchable_directories(directories),
            watch_filter=None,
            debounce=_LONGEST_GROUP_MS,
            step=_QUIET_MS,
            stop_event=self._stop,
            rust_timeout=_TICK_MS,
            yield_on_timeout=True,
            raise_interrupt=False,
            force_polling=False,
            recursive=False,
            ignore_permission_denied=True,
        )
        is_first = True
        for group in events:
            self.problem = ""
            # What happened between the listing of the directories and the first event went unseen.
            if is_first or self._concerns_tree({path for _, path in group}):
                self._changed()
            is_first = False
            if self._tree.directories() != directories:
                return

    def _watchable_directories(self, directories: Iterable[RepoPath]) -> list[str]:
        root = str(self._tree.jail.root)
        return [f"{root}/{path}" if path else root for path in directories if _is_utf8(path)]

    def _concerns_tree(self, paths: set[str]) -> bool:
        if len(paths) > _MOST_EVENTS:
            return True
        root = f"{self._tree.jail.root}{os.sep}"
        return any(self._tree.may_hold(RepoPath(path.removeprefix(root))) for path in paths)

    def _give_up_for_now(self, reason: str) -> None:
        if not self.problem:
            _log.warning("changes are not watched: %s", reason)
        self.problem = reason
        self._changed()
        self._stop.wait(_RETRY_SEC)


def _is_utf8(path: str) -> bool:
    """The library takes no other names; what is in such a directory is found by looking alone."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
