"""The index of a repository with the meanings of its names: snapshots of its states."""

from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from typing import Final

from codeplane.contexts.contexts import Override
from codeplane.core.paths import RepoPath
from codeplane.index.database import IndexDatabase
from codeplane.index.overlay_views import (
    BaseView,
    Layered,
    begin_view,
    files_of,
    is_there,
    overlay_key,
)
from codeplane.index.work import Progress
from codeplane.names.codebase import Codebase
from codeplane.names.snapshot import Snapshot
from codeplane.names.snapshots import Snapshots
from codeplane.names.state import WORKING_TREE, StateRef
from codeplane.parsing.workers import Workers
from codeplane.storage.database import Database
from codeplane.storage.lease import Lease
from codeplane.working_tree import CommitTree, Known, WorkingTree

_LARGE: Final = 200  # files from which on workers are worth having ready


class Index(IndexDatabase):
    """Gives snapshots of the working tree, of commits, and of the tree with contents that it may get."""

    def __init__(
        self, database: Database, lease: Lease, tree: WorkingTree, workers: Workers, view: str, rebuilt: str
    ) -> None:
        super().__init__(database, lease, tree, workers, view, rebuilt)
        self._snapshots = Snapshots(tree)

    def use_caches_of(self, other: "Index") -> None:
        """Uses what an index on the same database knows of contents and views, if it is configured alike."""
        mine, others = self._snapshots, other.snapshots
        is_alike = list(mine.units.overrides) == list(others.units.overrides)
        if is_alike and mine.semantic == others.semantic:
            self._snapshots = Snapshots(self._tree, semantic=mine.semantic, alike=others)

    @property
    def snapshots(self) -> Snapshots:
        """What makes snapshots, with what it knows."""
        return self._snapshots

    def configure(self, overrides: Sequence[Override], *, semantic: bool = True) -> None:
        """Takes what the user says about build contexts, and whether what indexers say counts; what was made
        from other words is made anew."""
        before = self._snapshots
        if list(overrides) != list(before.units.overrides) or semantic != before.semantic:
            fresh = Snapshots(self._tree, semantic=semantic)
            fresh.units.overrides = overrides
            self._snapshots = fresh

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """The working tree at the last published epoch; everything read in the block agrees."""
        with self.read() as (connection, view, epoch):
            yield self._snapshots.working(connection, (view, epoch), self.content)

    @contextmanager
    def commit_snapshot(self, commit: str, progress: Progress | None = None) -> Iterator[Snapshot]:
        """A commit by branch, tag, id or `HEAD~2`, read from git's objects; nothing is checked out."""
        with self.with_commits([commit], progress) as (_, snapshots):
            yield snapshots[commit]

    @contextmanager
    def snapshot_of(
        self, which: StateRef = WORKING_TREE, progress: Progress | None = None
    ) -> Iterator[Snapshot]:
        """The working tree, a commit, or either with other contents under some paths."""
        if which == WORKING_TREE:
            with self.snapshot() as snapshot:
                yield snapshot
            return
        tree = self._tree.at(which.commit) if which.commit is not None else None
        if not which.overlay.files:
            assert tree is not None, "BUG: what has neither commit nor overlay is the working tree"
            view = self.commits.view_of(tree, progress, most=which.most_unread)
            with self.database.read() as connection:
                yield self._snapshots.commit(connection, view, tree)
            return
        while True:
            layer = self._layer(which, tree, progress)
            with self.database.read() as connection:
                if not is_there(connection, layer):
                    continue  # dropped by others that were asked for since
                below = (self.content, tree)
                yield self._snapshots.layered(connection, layer, which.overlay.files, below)
                return

    def files_of_commit(self, commit: str) -> dict[RepoPath, Known]:
        """The files of a commit with what tells their contents from others."""
        view = self.commits.view_of(self._tree.at(commit))
        with self.database.read() as connection:
            return files_of(connection, view)

    def links_of_commit(self, commit: str) -> dict[RepoPath, str]:
        """The links of a commit, and what is written in them."""
        with self.commit_snapshot(commit) as snapshot:
            return snapshot.links()

    def copy_commit(self, commit: str, key: str) -> None:
        """Has a view of that key begin as a commit, unless there is one."""
        view = self.commits.view_of(self._tree.at(commit))
        with self.database.write() as connection:
            begin_view(connection, key, BaseView(view, 0))

    def _layer(self, which: StateRef, tree: CommitTree | None, progress: Progress | None) -> Layered:
        def base() -> BaseView:
            if tree is not None:
                return BaseView(self.commits.view_of(tree, progress, most=which.most_unread), 0)
            with self.read() as (_, view, epoch):
                return BaseView(view, epoch)

        below = f"commit:{tree.commit.oid}:{tree.rules.commit_rules()}" if tree is not None else self._key
        return self._overlays.view_of(overlay_key(which.overlay.name, below), base, which.overlay.files)

    @contextmanager
    def with_commits(
        self, commits: Sequence[str], progress: Progress | None = None, which: StateRef = WORKING_TREE
    ) -> Iterator[tuple[Snapshot, dict[str, Snapshot]]]:
        """A state of the files, by default the working tree, and commits at one moment."""
        trees = {commit: self._tree.at(commit) for commit in commits}
        views = {commit: self.commits.view_of(tree, progress) for commit, tree in trees.items()}
        with self.snapshot_of(which, progress) as now, self.database.read() as connection:
            yield (
                now,
                {
                    commit: self._snapshots.commit(connection, views[commit], tree)
                    for commit, tree in trees.items()
                },
            )

    @contextmanager
    def overlay(
        self, contents: Mapping[RepoPath, bytes], without: Set[RepoPath] = frozenset()
    ) -> Iterator[tuple[Snapshot, Codebase]]:
        """The working tree at the last epoch, and the code as it would be with other contents under some
        paths and some paths less. Nothing is published."""
        with self.commits.making:  # what nothing uses yet is not dropped meanwhile
            blobs = self.begin_ahead(contents)()
            with self.snapshot() as snapshot:
                yield snapshot, snapshot.overlaid(blobs, without, contents)

    @contextmanager
    def overlays(self, *states: Mapping[RepoPath, bytes]) -> Iterator[tuple[Snapshot, list[Codebase]]]:
        """The working tree at the last epoch, and the code with the contents of each state in its place."""
        with self.commits.making:  # what nothing uses yet is not dropped meanwhile
            blobs = [self.begin_ahead(contents)() for contents in states]
            with self.snapshot() as snapshot:
                pairs = zip(blobs, states, strict=True)
                yield (
                    snapshot,
                    [
                        snapshot.overlaid(some, contents=contents) if contents else snapshot
                        for some, contents in pairs
                    ],
                )

    def warm(self) -> None:
        """Makes beforehand what the first question would wait for."""
        with self.snapshot() as snapshot:
            _ = snapshot.coverage, snapshot.units, snapshot.layout
            snapshot.lookup.warm()
        if len(self.known) > _LARGE:
            self.prepare()

    def prepare(self) -> None:
        """Has workers ready for what is about to be read, in the language that most files are in."""
        if self.workers.are_missing:
            with self.snapshot() as snapshot:
                main = snapshot.lookup.main_language()
            self.workers.prepare([main] if main else [])
