"""Snapshots of views: what is known of an epoch is made on first use, and kept up for the next."""

from functools import cache

from codeplane.contexts.contexts import Read
from codeplane.core.errors import ContentChanged, NotFound
from codeplane.core.paths import Digest, RepoPath
from codeplane.index.coverage import Coverage, carried, coverage_of
from codeplane.index.view.units import Units, UnitsCache
from codeplane.jail import shown
from codeplane.names.imports import ImportResolver
from codeplane.names.link_caches import LinkCaches
from codeplane.names.snapshot import Contents, Snapshot, Supplies
from codeplane.storage.database import Connection
from codeplane.working_tree import CommitTree, WorkingTree


class Snapshots:
    """Makes them for the working tree and for commits; what is costly is shared by all of one epoch."""

    def __init__(self, tree: WorkingTree, *, semantic: bool = True) -> None:
        self._tree = tree
        self.semantic = semantic  # whether what indexers say counts
        self._linking = LinkCaches(semantic=semantic)
        self.units = UnitsCache()
        self._coverage: tuple[int, int, Coverage] | None = None  # view, epoch

    def working(self, connection: Connection, at: tuple[int, int], read: Read) -> Snapshot:
        """The working tree: its view at an epoch."""
        return self._made(connection, at, read, self._content)

    def commit(self, connection: Connection, view: int, tree: CommitTree) -> Snapshot:
        """A commit, by its view."""
        return self._made(connection, (view, 0), tree.manifest, tree.exact)

    def _made(self, connection: Connection, at: tuple[int, int], read: Read, contents: Contents) -> Snapshot:
        view, epoch = at
        is_commit = contents != self._content

        def units() -> Units:
            return self.units.units(connection, view, epoch, read)

        def links() -> ImportResolver:
            return self._linking.linker(connection, view, epoch, read, units)

        def coverage() -> Coverage:
            coverage_now = self._covered(connection, view, epoch)
            tree = self._tree
            return (
                coverage_now
                if is_commit
                else coverage_now._replace(hidden=len(tree.hidden), why_hidden=tree.why_hidden())
            )

        return Snapshot(
            connection, view, epoch, Supplies(links, units, coverage, contents, self._last_commit())
        )

    def _covered(self, connection: Connection, view: int, epoch: int) -> Coverage:
        if not epoch:  # of a commit, which may be read further without one
            return coverage_of(connection, view)
        last, coverage = self._coverage, None
        if last is not None and last[0] == view and last[1] <= epoch:
            coverage = last[2] if last[1] == epoch else carried(connection, view, last[2], last[1], epoch)
        self._coverage = (view, epoch, coverage or coverage_of(connection, view))
        return self._coverage[2]

    def _content(self, path: RepoPath, digest: Digest) -> bytes:
        try:
            return self._tree.read(path, expected=digest)
        except NotFound as error:
            name = shown(path)
            raise ContentChanged(f"{name} has gone since it was looked at.", path=name) from error

    def _last_commit(self) -> Contents:
        """Reads from the last commit, whose files are listed at the first use."""

        @cache
        def tree() -> CommitTree:
            return self._tree.at("HEAD")

        return lambda path, digest: tree().exact(path, digest)
