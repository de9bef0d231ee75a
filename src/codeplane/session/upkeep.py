"""What a server does for its index between calls."""

import gc
import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from codeplane.config.settings import IndexSettings
from codeplane.core.errors import ServerStopping
from codeplane.graph.import_links import links_of
from codeplane.index import Progress
from codeplane.names import Index
from codeplane.working_tree import WorkingTree
from codeplane.working_tree.watch.watcher import Watch

_log = logging.getLogger(__name__)

# After a refresh that was only hinted at, there is none for four times as long as it took, at most so long.
_LONGEST_REST_SEC: Final = 10


class Upkeep:
    """A thread that refreshes the index when it is asked to or something hints at a change, and collects.

    Calls do not depend on it: each brings the index up to date by itself, and finds little to do.
    """

    def __init__(
        self,
        index: Index,
        tree: WorkingTree,
        settings: IndexSettings,
        directory: Path | None,
        tidy: Callable[[], None],
    ) -> None:
        """`tidy` drops what is kept elsewhere than in the index and is not needed."""
        self._index = index
        self._tidy = tidy
        self._settings = settings
        self._watch = Watch(tree, self._hint, directory)
        self._wanted = threading.Event()
        self._urgent = threading.Event()
        self._stopping = False
        self._thread: threading.Thread | None = None

    @property
    def is_running(self) -> bool:
        return self._thread is not None

    @property
    def notices(self) -> list[str]:
        problem = self._watch.problem
        return [f"Files are not watched ({problem}); calls still see every change."] if problem else []

    def start(self, progress: Progress | None) -> None:
        """Begins with a first refresh, while calls are answered already."""
        self._thread = threading.Thread(target=self._run, args=(progress,), name="index", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Asks for a refresh at once."""
        self._urgent.set()
        self._wanted.set()

    def _hint(self) -> None:
        self._wanted.set()

    def tidy(self) -> None:
        """Drops what is not needed, once: for a repository that nobody looks after between calls."""
        _tried(self._tidy, "tidying")

    def stop(self) -> None:
        """Asks the threads to end; closing the index ends a pass that runs."""
        self._stopping = True
        self.wake()

    def join(self) -> None:
        self._watch.close()
        if self._thread is not None:
            self._thread.join(2)

    def _run(self, progress: Progress | None) -> None:
        try:
            self._first(progress)
            self._keep_up()
        except ServerStopping:
            return

    def _first(self, progress: Progress | None) -> None:
        if self._refresh(progress, followed=False):
            self._warm()
            state = self._index.state()
            _log.info("index is up to date", extra={"epoch": state.epoch, "files": state.files})
        self._collect()
        if self._settings.watch and not self._stopping:
            self._watch.start()

    def _keep_up(self) -> None:
        due = time.monotonic() + self._settings.collect_sec
        look_due = time.monotonic() + self._settings.poll_sec
        while not self._stopping:
            self._wanted.wait(max(0, min(due, look_due) - time.monotonic()))
            self._wanted.clear()
            self._urgent.clear()
            if self._stopping:
                return
            began = time.monotonic()
            # However often something is hinted at, everything is looked at in time.
            is_followed = began < look_due
            self._refresh(None, followed=is_followed)
            if not is_followed:
                look_due = time.monotonic() + self._settings.poll_sec
            if time.monotonic() >= due:
                self._collect()
                due = time.monotonic() + self._settings.collect_sec
            self._urgent.wait(min(4 * (time.monotonic() - began), _LONGEST_REST_SEC))

    def _refresh(self, progress: Progress | None, *, followed: bool) -> bool:
        return _tried(lambda: self._index.refresh(progress, followed=followed), "indexing")

    def _warm(self) -> None:
        def warm() -> None:
            self._index.warm()
            # Which files import which is asked by the first write, and by every move.
            with self._index.snapshot() as snapshot:
                links_of(snapshot)
            # What is known now lives on: collections that look through all of it would hold up answers.
            gc.freeze()

        _tried(warm, "looking ahead")

    def _collect(self) -> None:
        def collect() -> None:
            self._index.collect()
            self._tidy()

        _tried(collect, "collecting")


def _tried(act: Callable[[], object], what: str) -> bool:
    """Whether it was done; what fails is logged, and tried again by the next round or the next question."""
    try:
        act()
    except ServerStopping:
        raise
    except Exception:  # noqa: BLE001 - logged
        _log.exception("%s failed", what)
        return False
    return True
