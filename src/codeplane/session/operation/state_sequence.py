"""The states of the repository that rows tell of: one sequence, although operations run side by side."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from codeplane.core.edits import FileChange
from codeplane.core.fingerprint import Fingerprint
from codeplane.core.ids import OperationId
from codeplane.core.paths import Digest, RepoPath
from codeplane.mutation import Engine
from codeplane.names import Index
from codeplane.working_tree import WorkingTree


class StateSequence:
    """The state after one row is the state before the next, unless somebody else has changed files.

    The index has the files as of its last look. That look may have come before an edit that is on record, or
    have found one that is in place and not on record yet; both are reckoned in.
    """

    def __init__(self, index: Index, tree: WorkingTree, engine: Engine) -> None:
        self._index = index
        self._tree = tree
        self._engine = engine
        self._turn = threading.RLock()
        self._unseen: dict[OperationId, tuple[FileChange, ...]] = {}  # on record, in the order of their rows
        self._fingerprint: Fingerprint | None = None

    def now(self) -> Fingerprint:
        """The state that the last row has left, with what others have done since."""
        with self._turn:
            return self._fingerprint or self._reckoned()

    @contextmanager
    def held(self, before: Fingerprint) -> Iterator[None]:
        """Git changes files in the block, and nobody else does; to the rows of others they are as before."""
        with self._turn:
            self._fingerprint = before
        try:
            yield
        finally:
            with self._turn:
                self._fingerprint = None

    @contextmanager
    def released(self, before: Fingerprint) -> Iterator[tuple[Fingerprint, Fingerprint]]:
        """The states before and after what git has done while these were held; its row is written in the
        block, and the next one goes on from it."""
        with self._turn:
            self._fingerprint = None
            yield before, self._reckoned()

    @contextmanager
    def since(self, before: Fingerprint, operation: OperationId) -> Iterator[tuple[Fingerprint, Fingerprint]]:
        """The states around something that took its time: others may have changed files meanwhile, and have
        rows of their own."""
        with self.turn(operation) as (_, after):
            yield before, after

    @contextmanager
    def turn(
        self, operation: OperationId, changes: tuple[FileChange, ...] = ()
    ) -> Iterator[tuple[Fingerprint, Fingerprint]]:
        """The states before and after an operation of one moment; its row is written in the block, and no
        other one is."""
        with self._turn:
            before = after = self.now()
            for one in changes:
                if self._counts(one):
                    after = after.changed(one.path, one.before, one.after)
            yield before, after
            self._unseen[operation] = changes
            self._engine.recorded(operation)

    @contextmanager
    def looking(self) -> Iterator[None]:
        """In the block the index is brought up to date: it has all then that was on record before."""
        with self._turn:
            operations = list(self._unseen)
        yield
        with self._turn:
            for operation in operations:
                self._unseen.pop(operation, None)

    def _reckoned(self) -> Fingerprint:
        pending = [one for changes in self._unseen.values() for one in changes]
        digests: dict[RepoPath, Digest | None] = {}
        with self._index.standing() as (state, digest):
            # Asked while the index is not looking at the tree: whatever its last look found had begun before.
            for one in (*_reversed(self._engine.under_way()), *pending):
                if digests.setdefault(one.path, digest(one.path)) == one.before and self._counts(one):
                    state = state.changed(one.path, one.before, one.after)
                    digests[one.path] = one.after
        return state

    def _counts(self, one: FileChange) -> bool:
        """Whether the file is one of those that are indexed."""
        is_there_once = one.before is None or one.after is None
        return self._index.knows(one.path) or (is_there_once and self._tree.may_hold(one.path))


def _reversed(changes: Iterable[FileChange]) -> list[FileChange]:
    return [FileChange(one.path, one.after, one.before) for one in changes]
