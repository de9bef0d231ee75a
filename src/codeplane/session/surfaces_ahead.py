"""The answers about surfaces that a server has ready before anybody asks, and keeps up when it rests.

Where no import reaches a framework, nothing is prepared and nothing of the rules is loaded. Calls go first:
the preparation waits at its next step while one runs, and ends when the files have changed meanwhile.
"""

import logging
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from codeplane.core.errors import CodePlaneError, ContentChanged, ServerStopping
from codeplane.core.paths import RepoPath
from codeplane.index import keep_sites
from codeplane.names import Snapshot
from codeplane.parsing import Job
from codeplane.session.repo import RepoSession
from codeplane.session.surface_rules import heed_surface_rules
from codeplane.surfaces.likelihood import may_use_frameworks

_log = logging.getLogger(__name__)

_LOOK_SEC: Final = 1.0
_QUIET_SEC: Final = 2.0  # without a change, before answers are brought up to date
# After a preparation there is none for so many times as long as it took, at most so long.
_REST: Final = 4
_LONGEST_REST_SEC: Final = 60.0
_WAIT_SEC: Final = 0.1
_PROCESSES: Final = 2
_FEW: Final = 40  # contents that are read sooner than a process has started
_BATCH: Final = 500  # contents whose sites are read before they are kept
_MOST_FILES: Final = 20_000
_MOST_CPU_SEC: Final = 20.0  # of answers that are made; the rest is left to who asks


def prepare_surfaces(repo: RepoSession) -> None:
    """Has a server prepare answers from now on; a second time does nothing."""
    if repo.checkout.settings.index.surfaces_ahead:
        repo.keep(SurfacesAhead, lambda: _started(SurfacesAhead(repo)))


def _started(preparation: "SurfacesAhead") -> "SurfacesAhead":
    preparation.start()
    return preparation


class SurfacesAhead:
    """A thread that makes answers about the surfaces of one checkout."""

    def __init__(self, repo: RepoSession) -> None:
        self._repo = repo
        self._stopping = threading.Event()
        self._ready = -1  # the epoch that answers were made for
        self._epoch, self._changed = -1, 0.0  # the last epoch seen, and since when
        self._limit = 0.0  # the CPU time of the preparing thread at which it has done enough
        self._thread = threading.Thread(target=self._run, name="surfaces", daemon=True)

    @property
    def is_ready(self) -> bool:
        """Whether the answers about what the index has now were made."""
        return self._ready == self._repo.index.epoch

    def start(self) -> None:
        self._repo.at_close.append(self.end)
        self._thread.start()

    def end(self) -> None:
        """Asks the thread to end, and waits for it: it stops at its next step."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(5)

    def _run(self) -> None:
        rest = _LOOK_SEC
        while not self._stopping.wait(rest):
            rest = _LOOK_SEC
            if not self._is_due():
                continue
            began = time.monotonic()
            try:
                self.prepare()
            except (_Overtaken, ContentChanged):
                pass  # once the files rest
            except _Enough:
                self._ready = self._epoch
                _log.info("surfaces are prepared in part", extra={"epoch": self._epoch})
            except ServerStopping:
                return
            except CodePlaneError as error:
                self._ready = self._epoch
                _log.warning("preparing surfaces failed", extra={"error": error.message})
            except Exception:  # noqa: BLE001 - logged; a question finds its answer by itself
                self._ready = self._epoch
                _log.exception("preparing surfaces failed")
            rest = max(_LOOK_SEC, min(_REST * (time.monotonic() - began), _LONGEST_REST_SEC))

    def _is_due(self) -> bool:
        """Whether everything is read, and nothing has changed for a while that was not looked at."""
        index, now = self._repo.index, time.monotonic()
        if index.epoch != self._epoch:
            self._epoch, self._changed = index.epoch, now
        if not index.was_whole or index.is_building or self._ready == self._epoch:
            return False
        return self._ready < 0 or now - self._changed >= _QUIET_SEC

    def prepare(self) -> None:
        """Has the sites read that answers rest on, and makes the answers about what the index has now."""
        repo = self._repo
        self._limit = time.thread_time() + _MOST_CPU_SEC
        with repo.index.snapshot() as snapshot:
            epoch = snapshot.epoch
            if not may_use_frameworks(snapshot) and not repo.checkout.state.surfaces.is_dir():
                self._ready = epoch
                return
        files = self._files_to_read(epoch)
        if files:
            for batch in self._read(files, epoch):
                keep_sites(repo.index.database, batch)
            self._answer(epoch)
        self._ready = epoch
        _log.info("surfaces are prepared", extra={"epoch": epoch})

    def _files_to_read(self, epoch: int) -> dict[int, RepoPath]:
        from codeplane.surfaces.ahead import files_to_read  # the rules take long to load

        with self._at(epoch) as snapshot:
            return files_to_read(snapshot)

    def _answer(self, epoch: int) -> None:
        from codeplane.surfaces.ahead import prepare_answers  # as above

        sites: dict[int, bytes] = {}
        try:
            with self._at(epoch) as snapshot:
                for batch in prepare_answers(snapshot, lambda: self._pause(epoch)):
                    sites |= batch
        finally:
            if sites and not self._stopping.is_set():
                keep_sites(self._repo.index.database, sites)

    def _read(self, files: Mapping[int, RepoPath], epoch: int) -> Iterator[dict[int, bytes]]:
        """The packed sites of contents that none are kept of, some at a time; few are left to who asks."""
        with self._at(epoch) as snapshot:
            missing = snapshot.without_sites(files)
        if len(missing) <= _FEW:
            return
        from codeplane.parsing.site_pool import site_pool  # most starts find all sites kept

        pool, numbers = site_pool(_PROCESSES), sorted(missing)[:_MOST_FILES]
        try:
            for at in range(0, len(numbers), _BATCH):
                with self._at(epoch) as snapshot:
                    jobs = self._jobs(snapshot, files, numbers[at : at + _BATCH], epoch)
                    read = [result for chunk in pool.extract(jobs) for result in chunk]
                yield {result.number: result.packed for result in read if result.packed}
        finally:
            pool.close()

    def _jobs(
        self, snapshot: Snapshot, files: Mapping[int, RepoPath], numbers: list[int], epoch: int
    ) -> Iterator[Job]:
        for number in numbers:
            self._pause(epoch)
            facts = snapshot.facts_of(number)
            if facts is not None:
                yield Job(number, facts.language, snapshot.source(files[number]))

    @contextmanager
    def _at(self, epoch: int) -> Iterator[Snapshot]:
        """The state of an epoch; there is none any more where the files have changed."""
        self._pause(epoch)
        with self._repo.index.snapshot() as snapshot:
            if snapshot.epoch != epoch:
                raise _Overtaken
            heed_surface_rules(self._repo.checkout, snapshot)
            yield snapshot

    def _pause(self, epoch: int) -> None:
        """Lets calls go first; raises where the server stops, or the files have changed."""
        repo = self._repo
        while True:
            if self._stopping.is_set():
                raise ServerStopping("The server is shutting down.")
            if repo.index.epoch != epoch:
                raise _Overtaken
            if time.thread_time() > self._limit:
                raise _Enough
            if not repo.activity.is_busy or repo.activity.wait_for_rest(_WAIT_SEC):
                return


class _Enough(Exception):
    """The preparation has taken what it may take."""


class _Overtaken(Exception):
    """The files have changed since the preparation began."""
