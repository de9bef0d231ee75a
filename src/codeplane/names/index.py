"""The index of a repository with the meanings of its names: snapshots of its states."""

from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from typing import Final

from codeplane.contexts.contexts import Override
from codeplane.core.paths import RepoPath
from codeplane.index.database import IndexDatabase
from codeplane.index.work import Progress
from codeplane.names.codebase import Codebase
from codeplane.names.snapshot import Snapshot
from codeplane.names.snapshots import Snapshots
from codeplane.parsing.workers import Workers
from codeplane.storage.database import Database
from codeplane.storage.lease import Lease
from codeplane.working_tree import WorkingTree

_LARGE: Final = 200  # files from which on workers are worth having ready


class Index(IndexDatabase):
    """Gives snapshots of the working tree, of commits, and of the tree with contents that it may get."""

    def __init__(
        self, database: Database, lease: Lease, tree: WorkingTree, workers: Workers, view: str, rebuilt: str
    ) -> None:
        super().__init__(database, lease, tree, workers, view, rebuilt)
        self._snapshots = Snapshots(tree)

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
    def with_commits(
        self, commits: Sequence[str], progress: Progress | None = None
    ) -> Iterator[tuple[Snapshot, dict[str, Snapshot]]]:
        """The working tree and commits at one moment."""
        trees = {commit: self._tree.at(commit) for commit in commits}
        views = {commit: self.commits.view_of(tree, progress) for commit, tree in trees.items()}
        with self.database.read() as connection, self.snapshot() as now:
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
