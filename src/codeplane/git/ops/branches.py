"""Listing, creating, deleting and renaming branches."""

import os
from dataclasses import dataclass
from typing import Final

import pygit2
from pygit2.enums import BranchType

from codeplane.core.errors import InvalidArgument, NotFound, WorkAtRisk
from codeplane.core.suggest import nearest
from codeplane.git.history.commit_info import info_of
from codeplane.git.ops.checkout import new_branch
from codeplane.git.repo.heads import BRANCHES, branches_elsewhere, check_free
from codeplane.git.repo.objects import find_commit
from codeplane.git.repo.outcome import Outcome
from codeplane.git.repo.ref_names import branch_name
from codeplane.git.repo.remedies import Fix, Remedy
from codeplane.git.repo.repository import Repository
from codeplane.git.repo.upstream import UpstreamStatus
from codeplane.jail import shown

_REMOTES: Final = "refs/remotes/"
_SHORT: Final = 10


@dataclass(frozen=True)
class Branch:
    """A branch with its last commit; `worktree` is another checkout that has it."""

    name: str
    commit: str
    subject: str
    is_current: bool = False
    upstream: UpstreamStatus | None = None
    worktree: str | None = None


@dataclass(frozen=True)
class BranchOutcome(Outcome):
    """The outcome of a branch operation, with the commit that a deleted or moved branch had."""

    old_tip: str | None = None


def list_branches(
    repository: Repository, *, remote: bool, contains: str = "", most: int
) -> tuple[list[Branch], int]:
    """Branches whose names contain a text, sorted, and how many more than `most` there are."""
    elsewhere = branches_elsewhere(repository)
    with repository.opened() as handle:
        kind = BranchType.REMOTE if remote else BranchType.LOCAL
        names = sorted(handle.raw_listall_branches(kind))
        fitting = [raw for raw in names if contains in os.fsdecode(raw) and not raw.endswith(b"/HEAD")]
        branches = [_branch_info(handle, raw, kind, elsewhere) for raw in fitting[:most]]
    return branches, len(fitting) - len(branches)


def create_branch(
    repository: Repository, name: str, start: str | None = None, *, force: bool = False
) -> BranchOutcome:
    """Creates a branch without checking it out. With `force`, an existing one is moved."""
    with repository.opened() as handle:
        old = handle.references.get(BRANCHES + branch_name(name))
        if old is not None and force:
            return _move_branch(repository, handle, name, start)
    target = new_branch(repository, name, start)
    if target.commit is None:
        raise InvalidArgument("A branch needs a commit to start at, and there is none yet.")
    with repository.opened() as handle:
        branch = handle.create_branch(name, handle[target.commit].peel(pygit2.Commit))
        if target.upstream is not None:
            branch.upstream = handle.lookup_branch(target.upstream, BranchType.REMOTE)
    tracks = f", which tracks {target.upstream}" if target.upstream else ""
    return BranchOutcome(f"created branch {name}{tracks} at {target.commit[:_SHORT]}")


def delete_branch(repository: Repository, name: str, *, force: bool = False) -> BranchOutcome:
    """Deletes a branch that is merged into its upstream or HEAD; with `force`, any branch."""
    with repository.opened() as handle:
        branch = _find_branch(handle, name)
        if branch.is_head():
            raise InvalidArgument(
                f"{name} is checked out: it can't be deleted.",
                hints=[Remedy(Fix.CHECK_OUT_ANOTHER)],
            )
        check_free(repository, BRANCHES + name)
        tip = str(branch.peel(pygit2.Commit).id)
        if not force and not _is_merged(handle, branch):
            raise WorkAtRisk(
                f"Branch {name} has commits that {_merge_target(branch)} lacks.",
                hints=[Remedy(Fix.DELETE_BRANCH, name=name)],
                commit=tip,
            )
        branch.delete()
    return BranchOutcome(f"deleted branch {name} (was {tip[:_SHORT]})", old_tip=tip)


def rename_branch(
    repository: Repository, name: str | None, new_name: str, *, force: bool = False
) -> BranchOutcome:
    """Renames a branch, or the current one, along with its settings and its reflog."""
    branch_name(new_name)
    with repository.opened() as handle:
        old = name or _current_branch(handle)
        branch = _find_branch(handle, old)
        check_free(repository, BRANCHES + old)
        taken_name = handle.references.get(BRANCHES + new_name)
        old_tip = None
        if taken_name is not None and old != new_name:
            if not force:
                raise InvalidArgument(f"Branch {new_name} already exists.", name=new_name)
            check_free(repository, BRANCHES + new_name)
            old_tip = str(taken_name.peel(pygit2.Commit).id)
        branch.rename(new_name, force)
    return BranchOutcome(f"renamed branch {old} to {new_name}", old_tip=old_tip)


def set_upstream(repository: Repository, name: str | None, upstream: str | None) -> BranchOutcome:
    """Sets what a branch, or the current one, tracks; None unsets it."""
    with repository.opened() as handle:
        own = name or _current_branch(handle)
        branch = _find_branch(handle, own)
        if upstream is None:
            branch.upstream = None  # type: ignore[assignment]
            return BranchOutcome(f"{own} tracks nothing")
        kind = BranchType.REMOTE if _REMOTES + upstream in handle.references else BranchType.LOCAL
        target = handle.lookup_branch(upstream, kind)
        if target is None:
            raise _no_branch(upstream, [*handle.branches.remote, *handle.branches.local])
        branch.upstream = target
    return BranchOutcome(f"{own} tracks {upstream}")


def _move_branch(
    repository: Repository, handle: pygit2.Repository, name: str, start: str | None
) -> BranchOutcome:
    branch = _find_branch(handle, name)
    if branch.is_head():
        raise InvalidArgument(f"{name} is checked out.", hints=[Remedy(Fix.RESET_KEEP, ref=start or "HEAD")])
    check_free(repository, BRANCHES + name)
    old_tip, new_tip = str(branch.peel(pygit2.Commit).id), find_commit(handle, start or "HEAD").oid
    log = f"branch: Reset to {start or 'HEAD'}"
    handle.create_reference_direct(BRANCHES + name, pygit2.Oid(hex=new_tip), True, message=log)
    return BranchOutcome(
        f"moved branch {name} from {old_tip[:_SHORT]} to {new_tip[:_SHORT]}", old_tip=old_tip
    )


def _branch_info(
    handle: pygit2.Repository, raw: bytes, kind: BranchType, elsewhere: dict[str, str]
) -> Branch:
    branch = handle.lookup_branch(raw, kind)
    commit = branch.peel(pygit2.Commit)
    name = os.fsdecode(raw)
    return Branch(
        name,
        str(commit.id),
        info_of(commit).subject,
        is_current=kind == BranchType.LOCAL and branch.is_head(),
        upstream=_upstream_of(handle, branch) if kind == BranchType.LOCAL else None,
        worktree=elsewhere.get(BRANCHES + name),
    )


def _upstream_of(handle: pygit2.Repository, branch: pygit2.Branch) -> UpstreamStatus | None:
    try:
        name = branch.upstream_name
    except (KeyError, ValueError, pygit2.GitError):
        return None
    short = name.removeprefix(_REMOTES).removeprefix(BRANCHES)
    there = handle.references.get(name)
    if there is None:
        return UpstreamStatus(short)
    ahead, behind = handle.ahead_behind(branch.peel(pygit2.Commit).id, there.peel(pygit2.Commit).id)
    return UpstreamStatus(short, ahead, behind)


def _is_merged(handle: pygit2.Repository, branch: pygit2.Branch) -> bool:
    against = branch.upstream
    if against is None and handle.head_is_unborn:
        return False
    other = (against or handle.head).peel(pygit2.Commit).id
    tip = branch.peel(pygit2.Commit).id
    return other == tip or handle.descendant_of(other, tip)


def _merge_target(branch: pygit2.Branch) -> str:
    return f"its upstream {shown(branch.upstream.shorthand)}" if branch.upstream is not None else "HEAD"


def _find_branch(handle: pygit2.Repository, name: str) -> pygit2.Branch:
    branch = handle.lookup_branch(branch_name(name), BranchType.LOCAL)
    if branch is None:
        raise _no_branch(name, handle.branches.local)
    return branch


def _no_branch(name: str, names: object) -> NotFound:
    printable = [one for one in names if one.isprintable()]  # type: ignore[attr-defined]
    near = nearest(name, printable)
    return NotFound(
        f"There is no branch {name}.", hints=[f"Did you mean {', '.join(near)}?"] if near else (), name=name
    )


def _current_branch(handle: pygit2.Repository) -> str:
    if handle.head_is_detached or handle.head_is_unborn:
        raise InvalidArgument("No branch is checked out; name one.")
    return handle.head.shorthand
