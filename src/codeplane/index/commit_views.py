"""Views of commits: made once from git's objects, then answered from like the working tree."""

import threading
from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

from codeplane.core.errors import IndexNotAvailable, ServerStopping
from codeplane.core.paths import Digest, RepoPath
from codeplane.index.store import Entry, now_ms, publish_whole, view_id
from codeplane.index.work import Progress, Work, in_batches
from codeplane.languages import readers_version
from codeplane.parsing.workers import Workers
from codeplane.storage.database import Connection, Database
from codeplane.working_tree import CommitTree, Content, Gap, GapKind, Known

T = TypeVar("T")

_SOUGHT_AT_ONCE: Final = 500
_LEARNT_AT_ONCE: Final = 2000
_DETAILS: Final = {
    GapKind.MISSING: "The object is not in this clone.",
    GapKind.LARGE: "The file is too large to be read.",
}


class CommitViews:
    """One view for each commit, set of rules and version of what reads, made one at a time.

    A kill loses nothing read so far.
    """

    def __init__(self, database: Database, workers: Workers) -> None:
        self._database = database
        self._workers = workers
        self.making = threading.Lock()
        self._closing = False

    def close(self) -> None:
        """Ends a pass that runs, after the files that it has just read."""
        self._closing = True
        with self.making:
            pass

    def is_made(self, tree: CommitTree) -> bool:
        """Whether the view of a commit is there and complete."""
        return self._find_complete(_key_of(tree)) is not None

    def view_of(self, tree: CommitTree, progress: Progress | None = None, *, most: int | None = None) -> int:
        """The number of the view of a commit, made when it is missing or more of it can be told now.

        Where more contents than `most` would have to be read for it, `IndexNotAvailable` says so.
        """
        key = _key_of(tree)
        with self.making:
            view = self._find_complete(key)
            if view is None:
                tree.fill()
                view = self._make_view(key, tree, progress, most)
        return view

    def objects_of(self, tree: CommitTree) -> "CommitObjects":
        """What every file of a commit holds."""
        with self.making:
            tree.fill()
            return CommitObjects(tree, self._learn_objects(tree))

    def _find_complete(self, key: str) -> int | None:
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT id FROM view v WHERE key = ? AND complete = 1 AND NOT EXISTS ("
                " SELECT 1 FROM gap g JOIN blob b ON b.digest = g.detail WHERE g.view = v.id AND g.kind = ?)",
                (key, GapKind.POINTER),
            ).fetchone()
        if row is None:
            return None
        with self._database.write() as connection:
            # What is used is kept when old views are dropped; one dropped just now is made again.
            update = connection.execute("UPDATE view SET used_ms = ? WHERE id = ?", (now_ms(), row[0]))
            return int(row[0]) if update.rowcount else None

    def _make_view(self, key: str, tree: CommitTree, progress: Progress | None, most: int | None) -> int:
        source = CommitObjects(tree, self._learn_objects(tree))
        gaps = [*tree.gaps.values(), *source.gaps]
        work = Work(source, source.files)
        while True:
            with self._database.read() as connection:
                work.find_known(connection)
            if most is not None and len(work.pending) > most:
                raise _not_available(tree, len(work.pending))
            for batch in in_batches(self._workers, work, progress, lambda: self._closing):
                with self._database.write() as connection:
                    work.store(connection, batch)
            if self._closing:
                raise ServerStopping("The index is being closed.")
            with self._database.write() as connection:
                if work.confirm(connection):
                    view = view_id(connection, key)
                    publish_whole(connection, view, *_split_pointers(source, work.all(), gaps))
                    return view

    def _learn_objects(self, tree: CommitTree) -> dict[str, Content | GapKind]:
        """What every object of the commit holds; only those never met before are read."""
        oids = {entry.oid for entry in tree.files.values()}
        with self._database.read() as connection:
            contents: dict[str, Content | GapKind] = dict(_known_objects(connection, oids))
        for part in _split_list(sorted(oids - contents.keys()), _LEARNT_AT_ONCE):
            read = tree.contents(part)
            contents |= read
            with self._database.write() as connection:
                _remember_objects(connection, ((oid, c) for oid, c in read.items() if isinstance(c, Content)))
            if self._closing:
                raise ServerStopping("The index is being closed.")
        return contents


def _not_available(tree: CommitTree, unread: int) -> IndexNotAvailable:
    commit = tree.commit.oid
    return IndexNotAvailable(
        f"The commit {commit[:10]} is not indexed: {unread} of its files have never been read.",
        hints=[f'index_ensure_baseline {{"commit": "{commit}"}}, then the call again'],
        commit=commit,
        unread=unread,
    )


def _key_of(tree: CommitTree) -> str:
    return f"commit:{tree.commit.oid}:{tree.rules.commit_rules()}:{readers_version()}"


class CommitObjects:
    """Git's objects as a source of contents; `pointers` are files whose content another store has."""

    def __init__(self, tree: CommitTree, contents: dict[str, Content | GapKind]) -> None:
        self._tree = tree
        self._contents = contents
        self.files: dict[RepoPath, Known] = {}
        self.pointers: dict[RepoPath, Digest] = {}
        self.gaps: list[Gap] = []
        for path, entry in tree.files.items():
            content = contents[entry.oid]
            if isinstance(content, GapKind):
                self.gaps.append(make_gap(path, content))
            elif content.pointed:
                self.pointers[path] = content.pointed
                self.files[path] = Known(content.pointed, 0, content.pointed_size, 0, 0, entry.mode)
            else:
                self.files[path] = Known(content.digest, 0, content.size, 0, 0, entry.mode)

    def read(self, path: RepoPath, known: Known) -> bytes | None:  # noqa: ARG002 - the object says it all
        return None if path in self.pointers else self._tree.read(self._tree.files[path].oid)

    def beginning(self, path: RepoPath, known: Known) -> bytes:  # noqa: ARG002
        content = self._contents[self._tree.files[path].oid]
        return content.beginning if isinstance(content, Content) else b""


def _split_pointers(
    source: CommitObjects, entries: dict[RepoPath, Entry], gaps: list[Gap]
) -> tuple[dict[RepoPath, Entry], list[Gap]]:
    """Pointers whose content has been read somewhere are files like others; the rest are gaps."""

    def gap(path: RepoPath) -> Gap:
        pointer = source.pointers.get(path)
        return Gap(path, GapKind.POINTER, pointer) if pointer else make_gap(path, GapKind.MISSING)

    unread = {path for path in entries if entries[path].blob is None}
    present = {path: entry for path, entry in entries.items() if path not in unread}
    return present, [*gaps, *map(gap, sorted(unread))]


def make_gap(path: RepoPath, kind: GapKind) -> Gap:
    """A file of a commit whose content is not here."""
    return Gap(path, kind, _DETAILS.get(kind, ""))


def _known_objects(connection: Connection, oids: set[str]) -> Iterator[tuple[str, Content]]:
    for part in _split_list(sorted(oids), _SOUGHT_AT_ONCE):
        rows = connection.execute(
            "SELECT oid, digest, size, beginning, pointed, pointed_size FROM git_object"
            f" WHERE oid IN ({', '.join('?' * len(part))})",
            [bytes.fromhex(oid) for oid in part],
        )
        for oid, digest, size, beginning, pointer, pointed_size in rows:
            yield oid.hex(), Content(Digest(digest.hex()), size, beginning, Digest(pointer), pointed_size)


def _remember_objects(connection: Connection, contents: Iterable[tuple[str, Content]]) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO git_object VALUES (?, ?, ?, ?, ?, ?)",
        [(bytes.fromhex(oid), bytes.fromhex(c.digest), *c[1:]) for oid, c in contents],
    )


def _split_list(items: list[T], size: int) -> Iterator[list[T]]:
    for at in range(0, len(items), size):
        yield items[at : at + size]
