"""What git has begun and a commit ends: a merge, a cherry-pick, a revert."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Final

import pygit2

from codeplane.core.errors import GitFailed
from codeplane.git.repo.repository import Repository
from codeplane.git.repo.upstream import unfinished
from codeplane.storage.files import read_small, remove_tree

_LARGEST: Final = 1 << 20
_OVER: Final = (
    "MERGE_HEAD",
    "MERGE_MSG",
    "MERGE_MODE",
    "MERGE_RR",
    "AUTO_MERGE",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "SQUASH_MSG",
)


@dataclass(frozen=True)
class Begun:
    """What the next commit concludes, if anything."""

    kind: str | None
    merged: tuple[str, ...] = ()  # its further parents
    message: str | None = None  # that git has prepared
    author: pygit2.Signature | None = None  # of the commit that is picked


def begun(repository: Repository, handle: pygit2.Repository) -> Begun:
    """What is under way, from the files that git keeps about it."""
    message = _text(repository, "MERGE_MSG") or _text(repository, "SQUASH_MSG")
    picked = (_text(repository, "CHERRY_PICK_HEAD") or "").strip()
    merged = tuple((_text(repository, "MERGE_HEAD") or "").split())
    author = None
    if picked:
        try:
            author = handle[picked].peel(pygit2.Commit).author
        except (KeyError, ValueError) as error:
            raise GitFailed("CHERRY_PICK_HEAD names no commit.") from error
    kind = "merge" if merged else "cherry-pick" if picked else unfinished(handle)
    return Begun(kind, merged, message, author)


def conclude(repository: Repository) -> None:
    """Removes what git keeps about it, once the commit is made."""
    sequencer = repository.git_dir / "sequencer"
    todo = _text(repository, "sequencer/todo")
    if todo is not None and sum(1 for line in todo.splitlines() if line and line[0] != "#") <= 1:
        with suppress(FileNotFoundError):
            remove_tree(sequencer)
    for name in _OVER:
        (repository.git_dir / name).unlink(missing_ok=True)


def _text(repository: Repository, name: str) -> str | None:
    data = read_small(repository.git_dir / name, _LARGEST)
    return data.decode("utf-8", "surrogateescape") if data is not None else None
