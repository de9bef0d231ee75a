"""What git keeps on disk about an operation that has begun and not ended, and reading and clearing it.

Git's own files say what has begun before anything else is touched. So an operation that is cut off at any
moment can be aborted, by CodePlane or by git.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import pygit2
from pygit2.enums import RepositoryState

from codeplane.core.errors import GitFailed, GitUnfinished
from codeplane.git.repo.remedies import Fix, Remedy
from codeplane.git.repo.repository import Repository
from codeplane.storage.files import read_small, remove_tree, write_public

MERGE_HEAD: Final = "MERGE_HEAD"
CHERRY_PICK_HEAD: Final = "CHERRY_PICK_HEAD"
REVERT_HEAD: Final = "REVERT_HEAD"
REBASE_HEAD: Final = "REBASE_HEAD"
ORIG_HEAD: Final = "ORIG_HEAD"
MERGE_MSG: Final = "MERGE_MSG"
MERGE_MODE: Final = "MERGE_MODE"
MERGE_AUTOSTASH: Final = "MERGE_AUTOSTASH"
SQUASH_MSG: Final = "SQUASH_MSG"
AUTO_MERGE: Final = "AUTO_MERGE"
SEQUENCER: Final = "sequencer"
REBASE_MERGE: Final = "rebase-merge"
REBASE_APPLY: Final = "rebase-apply"
# Names the tree being written while files, index and HEAD change: after a crash, half-written files must not
# be taken for a resolution.
_WRITING: Final = "codeplane-landing"

MERGE_FILES: Final = (
    MERGE_HEAD, CHERRY_PICK_HEAD, REVERT_HEAD, MERGE_MSG, MERGE_MODE, "MERGE_RR", SQUASH_MSG, AUTO_MERGE,
    _WRITING,
)  # fmt: skip
"""The files of a merge, a cherry-pick or a revert; as with git's own reset and checkout, a rebase's stay."""

STATE_DIRECTORIES: Final = (REBASE_MERGE, REBASE_APPLY, SEQUENCER)

_LARGEST: Final = 4 << 20
_OPERATIONS: Final = {
    RepositoryState.MERGE: "merge",
    RepositoryState.REVERT: "revert",
    RepositoryState.REVERT_SEQUENCE: "revert",
    RepositoryState.CHERRYPICK: "cherrypick",
    RepositoryState.CHERRYPICK_SEQUENCE: "cherrypick",
    RepositoryState.BISECT: "bisect",
    RepositoryState.REBASE: "rebase",
    RepositoryState.REBASE_INTERACTIVE: "rebase",
    RepositoryState.REBASE_MERGE: "rebase",
    RepositoryState.APPLY_MAILBOX: "am",
    RepositoryState.APPLY_MAILBOX_OR_REBASE: "rebase",
}
_WITH_ARTICLE: Final = {
    "merge": "a merge",
    "revert": "a revert",
    "cherrypick": "a cherry-pick",
    "rebase": "a rebase",
    "am": "git am",
}


@dataclass(frozen=True)
class PendingCommit:
    """What the next commit concludes, if anything."""

    operation: str | None
    parents: tuple[str, ...] = ()  # beside HEAD, of a merge
    message: str | None = None  # prepared by git
    author: pygit2.Signature | None = None  # of the picked commit


def unfinished_operation(handle: pygit2.Repository) -> str | None:
    """What has begun and not ended: merge, revert, cherrypick, rebase, bisect or am."""
    return _OPERATIONS.get(RepositoryState(handle.state()))


def check_idle(handle: pygit2.Repository) -> None:
    """Refuses while another operation has begun and not ended, or has left conflicts."""
    operation = unfinished_operation(handle)
    if operation is not None:
        raise GitUnfinished(f"A {operation} is in progress.", hints=_ways_out(operation))
    if handle.index.conflicts is not None:
        raise GitUnfinished(
            "There are unresolved conflicts.",
            hints=[Remedy(Fix.STAGE_RESOLVED), Remedy(Fix.ABORT_MERGE)],
        )


def check_possible(handle: pygit2.Repository, action: str) -> None:
    """Refuses what git does not do in the middle of a merge, a rebase and the like; a bisect is fine."""
    operation = unfinished_operation(handle)
    if operation is None or operation == "bisect":
        return
    hints = ["git am --abort"] if operation == "am" else _ways_out(operation)
    raise GitUnfinished(f"{action} is not possible during {_WITH_ARTICLE[operation]}.", hints=hints)


def _ways_out(operation: str) -> list[str]:
    if operation == "rebase":
        return [Remedy(Fix.CONTINUE_REBASE), Remedy(Fix.ABORT_REBASE)]
    return [Remedy(Fix.CONTINUE_MERGE), Remedy(Fix.ABORT_MERGE)]


def pending_commit(repository: Repository, handle: pygit2.Repository) -> PendingCommit:
    """What is under way, from the files that git keeps about it."""
    message = read_state(repository, MERGE_MSG) or read_state(repository, SQUASH_MSG) or None
    pick = read_state(repository, CHERRY_PICK_HEAD).strip()
    parents = tuple(read_state(repository, MERGE_HEAD).split())
    author = None
    if pick:
        try:
            author = handle[pick].peel(pygit2.Commit).author
        except (KeyError, ValueError) as error:
            raise GitFailed("CHERRY_PICK_HEAD names no commit.") from error
    operation = "merge" if parents else "cherry-pick" if pick else unfinished_operation(handle)
    return PendingCommit(operation, parents, message, author)


def clear_after_commit(repository: Repository) -> None:
    """Clears what the commit has concluded; a sequence that has more steps goes on."""
    todo = read_state(repository, f"{SEQUENCER}/todo").splitlines()
    is_last = sum(1 for line in todo if line and line[0] != "#") <= 1
    if is_last and (repository.git_dir / SEQUENCER / "todo").exists():
        clear_sequencer(repository)
    clear_merge(repository)


def clear_merge(repository: Repository) -> None:
    """Forgets a merge, a cherry-pick or a revert that was under way."""
    for name in MERGE_FILES:
        (repository.git_dir / name).unlink(missing_ok=True)


def clear_sequencer(repository: Repository) -> None:
    """Forgets the steps of a series of cherry-picks or reverts."""
    directory = repository.git_dir / SEQUENCER
    if directory.is_dir():
        with suppress(FileNotFoundError):
            remove_tree(directory)


def begin_writing(repository: Repository, tree: str) -> None:
    """From here on, until `end_writing`, the operation can't be continued, only aborted."""
    write_state(repository, _WRITING, f"{tree}\n")
    write_state(repository, AUTO_MERGE, f"{tree}\n")


def end_writing(repository: Repository) -> None:
    """Files, index and HEAD are what the state files say."""
    (repository.git_dir / _WRITING).unlink(missing_ok=True)


def check_written(repository: Repository) -> None:
    """Refuses to continue what was cut off while its files were written."""
    tree = read_state(repository, _WRITING)
    if tree and tree == read_state(repository, AUTO_MERGE):
        raise GitUnfinished(
            "This was interrupted while files were being written: they are incomplete.",
            hints=["Abort it, then repeat the call."],
        )


def read_state(repository: Repository, name: str) -> str:
    """One of git's own small files; empty where it is not there."""
    data = read_small(repository.git_dir / name, _LARGEST) or b""
    return data.decode("utf-8", "surrogateescape")


def write_state(repository: Repository, name: str, content: str) -> None:
    """Writes one of git's own small files."""
    write_public(repository.git_dir / name, content.encode("utf-8", "surrogateescape"))
