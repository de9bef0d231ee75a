"""Facts of contents that files are about to have, read while something else is done."""

import logging
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Final

from codeplane.core.errors import CodePlaneError, ServerStopping
from codeplane.core.paths import RepoPath
from codeplane.session.repo import RepoSession

_log = logging.getLogger(__name__)

_MOST_AHEAD: Final = 100

Begin = Callable[[Mapping[RepoPath, bytes]], None]


@contextmanager
def reading_ahead(repo: RepoSession) -> Iterator[Begin]:
    """Gives what has contents read from then on; who needs their facts finds them or waits for them.

    Nothing is being read any more when the block ends.
    """
    under_way: list[Future[None]] = []

    def begin(contents: Mapping[RepoPath, bytes]) -> None:
        if 0 < len(contents) <= _MOST_AHEAD and (finish := _begun(repo, contents)):
            under_way.append(_handed_on(repo, finish))

    try:
        yield begin
    finally:
        for reading in under_way:
            reading.result()


def _begun(repo: RepoSession, contents: Mapping[RepoPath, bytes]) -> Callable[[], object] | None:
    try:
        return repo.index.begin_ahead(contents)
    except CodePlaneError:
        _log.info("reading ahead failed", exc_info=True)  # whoever needs the facts reads them
        return None


def _handed_on(repo: RepoSession, finish: Callable[[], object]) -> Future[None]:
    def read() -> None:
        try:
            finish()
        except CodePlaneError:
            _log.info("reading ahead failed", exc_info=True)

    try:
        return repo.ahead.submit(read)
    except RuntimeError as error:
        read()  # somebody may wait for it
        raise ServerStopping("The server is shutting down.") from error
