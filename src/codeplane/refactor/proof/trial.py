"""The code as a plan would leave it, beside the code that the plan was made for."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from codeplane.core.errors import ContentChanged
from codeplane.core.paths import RepoPath
from codeplane.names import Codebase, Index, Snapshot
from codeplane.refactor.plan import Plan


@contextmanager
def trial(
    index: Index, plan: Plan, contents: Mapping[RepoPath, bytes], deletions: Collection[RepoPath] = ()
) -> Iterator[tuple[Snapshot, Codebase]]:
    """The code as it is, and with the change; refuses where files have changed since the plan was made."""
    with index.overlay(contents, frozenset(deletions)) as (snapshot, after):
        if snapshot.epoch != plan.epoch:
            raise ContentChanged("Files have changed while the plan was made.")
        yield snapshot, after
