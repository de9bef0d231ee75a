"""What one pass over a view has to read: each distinct content once, however many paths have it."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final, Protocol

from codeplane.core.paths import RepoPath
from codeplane.index.store import BlobKey, Entry, add_blobs, from_sql, known_blobs
from codeplane.index.view.purpose import purpose_by_path
from codeplane.languages import extractor_version, language_of, possible_languages
from codeplane.parsing.workers import Done, Job, Workers
from codeplane.storage.database import Connection
from codeplane.working_tree import Known

Progress = Callable[[int, int, str], None]

_BATCH_FILES: Final = 400
_BATCH_SEC: Final = 2.0


class Source(Protocol):
    """Where the contents of a view come from."""

    def read(self, path: RepoPath, known: Known) -> bytes | None:
        """The bytes that have the known digest; None when they are not there any more."""

    def beginning(self, path: RepoPath, known: Known) -> bytes:
        """The first line or more; asked only of names without an ending."""


class Work:
    """The contents of one pass: those whose facts are there, and those that are pending."""

    def __init__(self, source: Source, changed: Mapping[RepoPath, Known]) -> None:
        self._source = source
        self._paths: dict[BlobKey, list[tuple[RepoPath, Known]]] = {}
        self._ids: dict[BlobKey, int] = {}
        self.pending: list[BlobKey] = []
        for path in sorted(changed):
            key = self._blob_key(path, changed[path])
            self._paths.setdefault(key, []).append((path, changed[path]))

    def _blob_key(self, path: RepoPath, known: Known) -> BlobKey:
        name = path.rsplit("/", 1)[-1]
        languages = possible_languages(name)
        if "." in name and len(languages) < 2:
            language = languages[0] if languages else ""
            return BlobKey(known.digest, language, _extractor_version(language))
        data = self._source.read(path, known) if len(languages) > 1 else b""
        if "." not in name:
            data = self._source.beginning(path, known)
        language = language_of(name, data or b"") or ""
        # What is not there any more has no language, and so no facts.
        return BlobKey(known.digest, language, _extractor_version(language) if data is not None else "")

    def find_known(self, connection: Connection) -> None:
        """Splits the work: content whose facts are there, and the rest, which is pending."""
        self._ids = known_blobs(connection, self._paths)
        self.pending = sorted((key for key in self._paths if key not in self._ids), key=self._reading_order)

    def _reading_order(self, key: BlobKey) -> tuple[bool, int, RepoPath]:
        """What the first questions are about is read first: source, then tests, then what has no grammar."""
        path = self._paths[key][0][0]
        return not key.language, purpose_by_path(path), path

    @property
    def contents(self) -> Mapping[BlobKey, Sequence[tuple[RepoPath, Known]]]:
        """Each distinct content of the pass, with the paths that have it."""
        return self._paths

    @property
    def pending_bytes(self) -> int:
        return sum(self._paths[key][0][1].size for key in self.pending)

    def confirm(self, connection: Connection) -> bool:
        """Inside the write that relies on it: drops what another process has collected meanwhile.

        Tells whether everything is still there.
        """
        before = len(self._ids)
        self._ids = known_blobs(connection, self._ids)
        return len(self._ids) == before

    def jobs(self) -> Iterator[Job]:
        """Reads what is pending, file by file. One that has changed again waits for the next pass."""
        for number, key in enumerate(self.pending):
            for path, entry in self._paths[key]:
                if (data := self._source.read(path, entry)) is not None:
                    yield Job(number, key.language, data)
                    break

    def store(self, connection: Connection, read: Sequence[Done]) -> dict[RepoPath, Entry]:
        """Writes the facts of what was read, in a fixed order; returns the entries that now have facts."""
        facts = {
            self.pending[outcome.number]: outcome.packed for outcome in sorted(read, key=lambda d: d.number)
        }
        # Another process may have read the same content since this pass began.
        there = known_blobs(connection, facts)
        new = [(key, self._paths[key][0][1].size, facts[key]) for key in facts if key not in there]
        blobs = {**there, **add_blobs(connection, new)}
        self._ids.update(blobs)
        return {path: Entry(entry, blobs[key]) for key in blobs for path, entry in self._paths[key]}

    def all(self) -> dict[RepoPath, Entry]:
        """Every path of the pass, with its facts where they are there."""
        return {
            path: Entry(entry, self._ids.get(key))
            for key, paths in self._paths.items()
            for path, entry in paths
        }


def outdated(connection: Connection, view: int) -> list[RepoPath]:
    """The paths whose facts another version has read, or as another language than this one would."""
    rows = connection.execute(
        "SELECT e.path, b.language, b.extractor FROM entry e JOIN blob b ON b.id = e.blob WHERE e.view = ?",
        (view,),
    )
    paths = []
    for text, language, extractor in rows:
        path = from_sql(text)
        name = path.rsplit("/", 1)[-1]
        languages = possible_languages(name) or ("",)
        now = languages[0] if "." in name and language not in languages else language
        if now != language or extractor != _extractor_version(now):
            paths.append(path)
    return paths


@cache
def _extractor_version(language: str) -> str:
    return extractor_version(language) if language else "words-1"


def in_batches(
    workers: Workers, work: Work, progress: Progress | None, is_ending: Callable[[], bool]
) -> Iterator[list[Done]]:
    """Reads what is pending and hands it on in parts, each worth a write of its own."""
    total, count = len(work.pending), 0
    batch: list[Done] = []
    began = time.monotonic()
    for chunk in workers.extract(work.jobs()):
        batch += chunk
        count += len(chunk)
        is_late = time.monotonic() - began > _BATCH_SEC
        if len(batch) >= _BATCH_FILES or is_late or count == total or is_ending():
            yield batch
            batch, began = [], time.monotonic()
        if is_ending():
            return
        if progress is not None:
            progress(count, total, "reading files")
    if batch:
        yield batch
