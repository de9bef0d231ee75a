"""What one pass over a view has to read: each distinct content once, however many paths have it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from codeplane.core.paths import RepoPath
from codeplane.index.store import BlobKey, Entry, Names, add_blobs, known_blobs
from codeplane.index.workers import Done, Job
from codeplane.languages import extractor_version, language_of
from codeplane.storage.database import Connection
from codeplane.truth import Known


class Source(Protocol):
    """Where the contents of a view come from."""

    def read(self, path: RepoPath, known: Known) -> bytes | None:
        """The bytes that have the known digest; None when they are not there any more."""

    def beginning(self, path: RepoPath, known: Known) -> bytes:
        """The first line or more; asked only of names that do not tell a language."""


class Work:
    """The contents of one pass: those whose facts are there, and those that are pending."""

    def __init__(self, source: Source, changed: Mapping[RepoPath, Known]) -> None:
        self._source = source
        self._paths: dict[BlobKey, list[tuple[RepoPath, Known]]] = {}
        self._ids: dict[BlobKey, int] = {}
        self.pending: list[BlobKey] = []
        for path in sorted(changed):
            key = self._key(path, changed[path])
            self._paths.setdefault(key, []).append((path, changed[path]))

    def _key(self, path: RepoPath, known: Known) -> BlobKey:
        name = path.rsplit("/", 1)[-1]
        # Only a name without an ending leaves the language to the first line.
        beginning = b"" if "." in name else self._source.beginning(path, known)
        language = language_of(name, beginning) or ""
        return BlobKey(known.digest, language, extractor_version(language) if language else "words-1")

    def find_known(self, connection: Connection) -> None:
        """Splits the work: content whose facts are there, and the rest, which is pending."""
        self._ids = known_blobs(connection, self._paths)
        self.pending = [key for key in self._paths if key not in self._ids]

    def jobs(self) -> Iterator[Job]:
        """Reads what is pending, file by file. One that has changed again waits for the next pass."""
        for number, key in enumerate(self.pending):
            data = self._source.read(*self._paths[key][0])
            if data is not None:
                yield Job(number, key.language, data)

    def store(self, connection: Connection, read: Sequence[Done], names: Names) -> dict[RepoPath, Entry]:
        """Writes the facts of what was read, in a fixed order; returns the entries that now have facts."""
        blobs = []
        for done in sorted(read, key=lambda done: done.number):
            key = self.pending[done.number]
            blobs.append((key, self._paths[key][0][1].size, done.packed))
        added = add_blobs(connection, blobs, names)
        self._ids.update(added)
        return {path: Entry(known, added[key]) for key in added for path, known in self._paths[key]}

    def all(self) -> dict[RepoPath, Entry]:
        """Every path of the pass, with its facts where they are there."""
        return {
            path: Entry(known, self._ids.get(key))
            for key, paths in self._paths.items()
            for path, known in paths
        }
