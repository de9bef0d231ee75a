"""The facts of a commit's files: to be handed on, or to be brought from elsewhere."""

from collections.abc import Iterable, KeysView, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from codeplane.core.paths import RepoPath
from codeplane.index.commit_views import CommitObjects, make_gap
from codeplane.index.database import IndexDatabase
from codeplane.index.store import BlobKey, add_blobs, known_blobs
from codeplane.index.work import Work
from codeplane.parsing.pack import Packed
from codeplane.storage.database import Connection
from codeplane.working_tree import CommitTree, Gap, GapKind, Known

_BATCH: Final = 200  # facts that are written in one go
_COLUMNS: Final[Mapping[str, str]] = {
    "definition": "name, kind, parent, scope, body, start_line, start_column, end_line, end_column,"
    " name_line, name_column, signature, bases, annotation, flags, owner, text",
    "import": "scope, kind, module, name, alias, line, column, certain, reexport",
    "export": "name, local, evidence, certain",
    "dynamic": "pattern, line, column, literals, computed",
    "written": "name",
}


class CommitContents:
    """What the files of a commit hold, by what facts belong to it. Files whose content another store has are
    gaps."""

    def __init__(self, tree: CommitTree, objects: CommitObjects) -> None:
        self.commit = tree.commit
        self._objects = objects
        files = {path: file for path, file in objects.files.items() if path not in objects.pointers}
        # A content without an extractor was not there to be looked at.
        self._files: Mapping[BlobKey, Sequence[tuple[RepoPath, Known]]] = {
            key: paths for key, paths in Work(objects, files).contents.items() if key.extractor
        }
        pointers = [make_gap(path, GapKind.POINTER) for path in sorted(objects.pointers)]
        self.gaps: list[Gap] = [*tree.gaps.values(), *objects.gaps, *pointers]

    @property
    def keys(self) -> KeysView[BlobKey]:
        return self._files.keys()

    def paths(self, key: BlobKey) -> Sequence[tuple[RepoPath, Known]]:
        """The files with that content."""
        return self._files[key]

    def size(self, key: BlobKey) -> int:
        return self._files[key][0][1].size

    def read(self, key: BlobKey) -> bytes | None:
        """The bytes of a content, out of git's objects; None where the object has gone."""
        path, file = self._files[key][0]
        return self._objects.read(path, file)


def commit_contents(index: IndexDatabase, tree: CommitTree) -> CommitContents:
    """Lists what the files of a commit hold; objects that were never met before are read for their digest."""
    return CommitContents(tree, index.commits.objects_of(tree))


def missing_facts(index: IndexDatabase, contents: CommitContents) -> list[BlobKey]:
    """The contents that no facts are there of, in the order of their digests."""
    with index.database.read() as connection:
        there = known_blobs(connection, contents.keys)
    return sorted(key for key in contents.keys if key not in there)


def insert_facts(index: IndexDatabase, facts: Iterable[tuple[BlobKey, int, Packed]]) -> int:
    """Writes facts with the sizes of their contents in one transaction; tells how many were not there yet."""
    count, rest = 0, iter(facts)
    with index.database.write() as connection:
        while batch := list(islice(rest, _BATCH)):
            there = known_blobs(connection, [key for key, _, _ in batch])
            count += len(add_blobs(connection, [one for one in batch if one[0] not in there]))
    return count


def read_facts(connection: Connection, key: BlobKey) -> Packed | None:
    """The facts of a content as a worker packed them, but for the words: their index keeps no text."""
    row = connection.execute(
        "SELECT id, lines, state, reason, interface, package, generated, scopes, binds FROM blob"
        " WHERE digest = ? AND language = ? AND extractor = ?",
        key,
    ).fetchone()
    if row is None:
        return None
    blob, *head = row
    rows = [
        connection.execute(
            f"SELECT {columns} FROM {table} WHERE blob = ? ORDER BY position", (blob,)
        ).fetchall()
        for table, columns in _COLUMNS.items()
    ]
    pair = connection.execute("SELECT names, occurrences FROM ref WHERE blob = ?", (blob,)).fetchone()
    names, occurrences = pair or (b"", b"")
    columns: list[Any] = [*head, *rows, names, occurrences, ""]
    return Packed(*columns)
