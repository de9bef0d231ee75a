"""Snapshots of views: what is known of an epoch is made on first use, and kept up for the next."""

from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple

from codeplane.contexts.contexts import Read
from codeplane.core.errors import ContentChanged, NotFound
from codeplane.core.paths import Digest, RepoPath
from codeplane.index.coverage import Coverage, carried, coverage_of
from codeplane.index.overlay_views import Files, Layered
from codeplane.index.view.units import Units, UnitsCache
from codeplane.jail import shown
from codeplane.names.imports import ImportResolver
from codeplane.names.link_caches import LinkCaches
from codeplane.names.snapshot import Contents, Snapshot, Supplies
from codeplane.storage.database import Connection
from codeplane.working_tree import CommitPaths, CommitTree, OverlaidPaths, StatePaths, WorkingTree

_MOST_VIEWS: Final = 12


class _Source(NamedTuple):
    """Where the files of a state are read from, and what its paths name."""

    read: Read
    contents: Contents
    paths: Callable[[Snapshot], StatePaths]
    is_commit: bool = False


class Snapshots:
    """Makes them for the working tree and for commits; what is costly is shared by all of one epoch."""

    def __init__(self, tree: WorkingTree, *, semantic: bool = True, alike: "Snapshots | None" = None) -> None:
        """With others that are configured alike, what is known of contents and views is theirs as well."""
        self._tree = tree
        self.semantic = semantic  # whether what indexers say counts
        self.linking: LinkCaches = alike.linking if alike is not None else LinkCaches(semantic=semantic)
        self.units: UnitsCache = alike.units if alike is not None else UnitsCache()
        self._coverage: dict[int, tuple[int, Coverage]] = {}  # view → epoch and coverage

    def working(self, connection: Connection, at: tuple[int, int], read: Read) -> Snapshot:
        """The working tree: its view at an epoch."""
        return self._snapshot(connection, at, _Source(read, self._content, lambda _: self._tree))

    def commit(self, connection: Connection, view: int, tree: CommitTree) -> Snapshot:
        """A commit, by its view."""
        return self._snapshot(connection, (view, 0), self._committed(tree))

    def layered(
        self,
        connection: Connection,
        layered: Layered,
        files: Files,
        below: tuple[Read, CommitTree | None],
    ) -> Snapshot:
        """The working tree or a commit with other contents under some paths; `below` is how it is read."""
        read, tree = below
        base = _Source(read, self._content, lambda _: self._tree)
        if tree is not None:
            base = self._committed(tree)

        def content(path: RepoPath, digest: Digest) -> bytes:
            file = files.get(path)
            return file.read() if file is not None else base.contents(path, digest)

        def manifest(path: RepoPath) -> bytes | None:
            if path in files:
                file = files[path]
                return file.read() if file is not None else None
            return base.read(path)

        def paths(snapshot: Snapshot) -> StatePaths:
            there = [path for path, file in files.items() if file is not None]
            without = [path for path, file in files.items() if file is None]
            return OverlaidPaths(base.paths(snapshot), frozenset(there), frozenset(without))

        source = _Source(manifest, content, paths, is_commit=tree is not None)
        return self._snapshot(connection, (layered.view, layered.epoch), source)

    def _committed(self, tree: CommitTree) -> "_Source":
        def paths(snapshot: Snapshot) -> StatePaths:
            links = cache(snapshot.links)

            def is_there(path: str) -> bool:
                return snapshot.exists(path) or snapshot.is_directory(path)

            return CommitPaths(self._tree.jail, lambda: tree.rules, links, is_there)

        return _Source(tree.manifest, tree.exact, paths, is_commit=True)

    def _snapshot(self, connection: Connection, at: tuple[int, int], source: "_Source") -> Snapshot:
        view, epoch = at

        def units() -> Units:
            return self.units.units(connection, view, epoch, source.read)

        def links() -> ImportResolver:
            return self.linking.linker(connection, view, epoch, source.read, units)

        def coverage() -> Coverage:
            coverage_now = self._covered(connection, view, epoch)
            tree = self._tree
            return (
                coverage_now
                if source.is_commit
                else coverage_now._replace(hidden=len(tree.hidden), why_hidden=tree.why_hidden())
            )

        supplies = Supplies(links, units, coverage, source.contents, self._last_commit(), source.paths)
        return Snapshot(connection, view, epoch, supplies)

    def _covered(self, connection: Connection, view: int, epoch: int) -> Coverage:
        if not epoch:  # of a commit, which may be read further without one
            return coverage_of(connection, view)
        last, coverage = self._coverage.get(view), None
        if last is not None and last[0] <= epoch:
            coverage = last[1] if last[0] == epoch else carried(connection, view, last[1], last[0], epoch)
        coverage = coverage or coverage_of(connection, view)
        if len(self._coverage) >= _MOST_VIEWS:
            self._coverage.clear()
        self._coverage[view] = (epoch, coverage)
        return coverage

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
