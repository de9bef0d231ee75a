"""Commits and operations before this run, as the episodic lane reads them."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

import pygit2

from codeplane.core.errors import CodePlaneError
from codeplane.git.history.changes import tree_changes
from codeplane.git.history.commit_info import first_line, message_of
from codeplane.git.history.walk import Walk
from codeplane.recon.candidates import PastChange
from codeplane.session import Call, RepoSession

_MOST_COMMITS: Final = 300
_MOST_OPERATIONS: Final = 100
_SHORT_ID: Final = 8


@dataclass
class CommitLog:
    """The last commits of HEAD, read once for each HEAD."""

    head: str | None = None
    changes: tuple[PastChange, ...] = ()
    guard: threading.Lock = field(default_factory=threading.Lock)

    def read(self, call: Call) -> tuple[PastChange, ...]:
        """The commits that HEAD has now; none where git can't read them."""
        repository = call.repo.checkout.repository
        head = repository.head().commit
        with self.guard:
            if head != self.head:
                try:
                    with repository.opened() as handle:
                        self.changes = tuple(_list_commits(handle, head, call)) if head else ()
                except CodePlaneError:
                    call.check()
                    self.changes = ()
                self.head = head
            return self.changes


def past_changes(call: Call) -> list[PastChange]:
    """Operations of the ledger that changed files, then commits; the newest first."""
    log = call.repo.keep(CommitLog, CommitLog)
    return [*_list_operations(call.repo), *log.read(call)]


def _list_commits(handle: pygit2.Repository, head: str, call: Call) -> Iterator[PastChange]:
    walk = Walk()
    walk.begin(handle, head)
    for commit in islice(walk.commits(handle, call.check), _MOST_COMMITS):
        if len(commit.parent_ids) == 1:  # a merge repeats what its commits say
            parent = commit.parents[0]
            changes = tree_changes(handle, str(parent.tree_id), str(commit.tree_id))
            paths = tuple(change.path for change in changes)
            yield PastChange(str(commit.id)[:_SHORT_ID], first_line(message_of(commit)), paths)


def _list_operations(repo: RepoSession) -> Iterator[PastChange]:
    labels = {task.task_id: task.label or "" for task in repo.ledger.tasks(_MOST_OPERATIONS)}
    for operation in repo.ledger.operations(limit=_MOST_OPERATIONS):
        paths = tuple(str(change.path) for change in operation.changes)
        if operation.success and paths and not operation.is_git:
            text = f"{labels.get(operation.task_id, '')} {operation.op_type}".strip()
            yield PastChange(operation.operation_id, text, paths)
