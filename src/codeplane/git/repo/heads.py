"""HEAD and its moves: branches checked out in other worktrees, the previous checkout, ORIG_HEAD."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pygit2

from codeplane.core.errors import InvalidArgument
from codeplane.git.repo.remedies import Fix, Remedy
from codeplane.git.repo.repository import Repository
from codeplane.git.repo.state import ORIG_HEAD, REBASE_APPLY, REBASE_MERGE
from codeplane.storage.files import read_small

BRANCHES: Final = "refs/heads/"
_LARGEST: Final = 8192
_MOVED: Final = re.compile(r"checkout: moving from (\S+) to ")


def branches_elsewhere(repository: Repository) -> dict[str, str]:
    """Branches that other worktrees have checked out or are rebasing, by full name, with their roots."""
    own = repository.git_dir.resolve()
    branches: dict[str, str] = {}
    for directory, root in _list_checkouts(repository.common_dir):
        if directory.resolve() == own:
            continue
        for file in ("HEAD", f"{REBASE_MERGE}/head-name", f"{REBASE_APPLY}/head-name"):
            text = (read_small(directory / file, _LARGEST) or b"").decode("utf-8", "replace").strip()
            name = text.removeprefix("ref: ")
            if name.startswith(BRANCHES):
                branches.setdefault(name, root)
    return branches


def check_free(repository: Repository, ref: str) -> None:
    """Refuses a branch that another worktree has checked out."""
    where = branches_elsewhere(repository).get(ref)
    if where is not None:
        name = ref.removeprefix(BRANCHES)
        raise InvalidArgument(
            f"Branch {name} is checked out in the worktree {where}.", name=name, worktree=where
        )


def previous_checkout(handle: pygit2.Repository, back: int = 1) -> str:
    """The previous checkout, a branch name or an id: git's `-` and `@{-1}`."""
    moves = (_MOVED.match(entry.message) for entry in handle.references["HEAD"].log())
    names = [move[1] for move in moves if move is not None]
    if len(names) < back:
        raise InvalidArgument("There is no previous branch.", hints=[Remedy(Fix.LIST_BRANCHES)])
    return names[back - 1]


def move_head(handle: pygit2.Repository, oid: str, reflog: str) -> None:
    """Points the current branch, or a detached HEAD, to a commit."""
    name = handle.references["HEAD"]
    target = pygit2.Oid(hex=oid)
    if name.type == pygit2.enums.ReferenceType.DIRECT:
        name.set_target(target, reflog)
    else:
        handle.create_reference_direct(str(name.target), target, True, message=reflog)


def note_orig_head(handle: pygit2.Repository) -> None:
    """Records HEAD in ORIG_HEAD before it moves."""
    if not handle.head_is_unborn:
        handle.create_reference_direct(ORIG_HEAD, handle.head.target, True)


def _list_checkouts(common: Path) -> Iterator[tuple[Path, str]]:
    """The git directory of each worktree, and its root if known."""
    yield common, str(common.parent)
    worktrees = common / "worktrees"
    if worktrees.is_dir():
        for directory in sorted(worktrees.iterdir()):
            link = (read_small(directory / "gitdir", _LARGEST) or b"").decode("utf-8", "replace").strip()
            yield directory, link.removesuffix("/.git") or directory.name
