"""Contents that are being read before any file has them."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import ExitStack, contextmanager

from codeplane.core.paths import RepoPath
from codeplane.index.contents import GivenContents
from codeplane.index.work import Work
from codeplane.parsing.workers import Workers
from codeplane.storage.database import Database
from codeplane.working_tree import Known, digest_of


class Ahead:
    """Reads contents ahead, and knows which ones, so that a look that finds them does not read them too."""

    def __init__(self, database: Database, workers: Workers) -> None:
        self._database, self._workers = database, workers
        self._changed = threading.Condition()
        self._digests: Counter[str] = Counter()

    def begin(self, contents: Mapping[RepoPath, bytes]) -> Callable[[], dict[str, int | None]]:
        """Workers have begun when this returns; what it returns has to be called, for the blobs.

        A thread that did both would not come to give workers their work while another one computes.
        """
        entries = {path: Known(digest_of(data), 0, len(data), 0, 0, 0) for path, data in contents.items()}
        work = Work(GivenContents(contents), entries)
        digests = {content.digest for content in entries.values()}
        self.wait(digests)  # somebody may be reading them already
        with ExitStack() as resources:
            resources.enter_context(self._mark_reading(digests))
            with self._database.read() as connection:
                work.find_known(connection)
            chunks = self._workers.extract(work.jobs())
            reading = resources.pop_all()

        def finish() -> dict[str, int | None]:
            with reading:
                if read := [outcome for chunk in chunks for outcome in chunk]:
                    with self._database.write() as connection:
                        work.store(connection, read)
            return {path: entry.blob for path, entry in work.all().items()}

        return finish

    def wait(self, digests: Set[str]) -> bool:
        """Waits until nobody reads one of these; tells whether somebody did."""
        with self._changed:
            if digests.isdisjoint(self._digests):
                return False
            return self._changed.wait_for(lambda: digests.isdisjoint(self._digests))

    @contextmanager
    def _mark_reading(self, digests: Set[str]) -> Iterator[None]:
        """While contents are read and their facts are written."""
        with self._changed:
            self._digests.update(digests)
        try:
            yield
        finally:
            with self._changed:
                self._digests -= Counter(digests)
                self._changed.notify_all()
