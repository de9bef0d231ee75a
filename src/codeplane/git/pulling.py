"""Pulling: what was fetched becomes part of the current branch."""

from dataclasses import dataclass, replace
from typing import Final

import pygit2

from codeplane.core.errors import GitFailed, GitUnfinished, InvalidArgument, NotFound
from codeplane.git.fetching import Brought, Moved, take
from codeplane.git.heads import move_head, note_orig_head
from codeplane.git.outcome import Outcome
from codeplane.git.remotes import Remote, Upstream, find_remote, remote_for, upstream_of
from codeplane.git.repository import Repository
from codeplane.git.switching import put_tree
from codeplane.git.transfer import unobeyed
from codeplane.process import Programs

_HEADS: Final = "refs/heads/"


@dataclass(frozen=True)
class Source:
    """Where a pull gets its commits from: a remote, and the branch of it that is merged."""

    remote: Remote
    upstream: Upstream | None
    branch: str | None  # the only one that is fetched


@dataclass(frozen=True)
class PullOutcome(Outcome):
    """Names the references that the fetch has moved."""

    remote: str = ""
    moved: tuple[Moved, ...] = ()


def source_of(repository: Repository, remote: str | None, branch: str | None, *, merges: bool) -> Source:
    """Finds out where to pull from, before anybody is asked for anything."""
    current = repository.head().branch
    with repository.opened() as handle:
        found = find_remote(handle, remote) if remote is not None else remote_for(handle, current)
        upstream = upstream_of(handle, current)
        if merges and handle.state() != pygit2.enums.RepositoryState.NONE:
            raise GitUnfinished(
                "A merge, a rebase or the like has begun: continue or abort it before a pull."
            )
    if branch is not None:
        upstream = Upstream(found.name, f"{_HEADS}{branch}")
    elif upstream is not None and upstream.remote != found.name:
        upstream = None
    if merges and upstream is None:
        raise InvalidArgument(
            f"{current or 'A detached HEAD'} follows no branch of {found.name}: name the branch to pull.",
            hints=['"branch": "main"', '"fetch_only": true'],
        )
    return Source(found, upstream, branch)


def take_fetch(repository: Repository, brought: Brought, source: Source, *, prune: bool) -> PullOutcome:
    """Keeps what was fetched; the branch and the working tree stay."""
    merges = [source.upstream] if source.upstream is not None else []
    moved = tuple(take(repository, brought, prune=prune, merges=merges))
    rejected = tuple(f"{one.ref} is as it was: {one.why}." for one in moved if one.move == "rejected")
    count = len(moved) - len(rejected)
    summary = (
        f"fetched {source.remote.name}: {count} references moved"
        if count
        else (f"fetched {source.remote.name}: nothing new")
    )
    notes = (*unobeyed(repository), *rejected)
    return PullOutcome(summary, notes=notes, remote=source.remote.name, moved=moved)


def take_pull(
    repository: Repository, programs: Programs, brought: Brought, source: Source, how: "How"
) -> PullOutcome:
    """Keeps what was fetched, then merges it into the current branch or rebases that onto it."""
    got = take_fetch(repository, brought, source, prune=how.prune)
    assert source.upstream is not None, "BUG: a pull knows what it merges"
    tip = brought.exchange.heads.get(source.upstream.ref)
    if tip is None:
        raise NotFound(f"{source.remote.name} has no branch {source.upstream.branch!r}.")
    done = _integrate(repository, programs, tip, source, how)
    return replace(
        got,
        summary=f"{done.summary}; {got.summary}",
        notes=(*got.notes, *done.notes),
        commit=done.commit,
        conflicts=done.conflicts,
        saved=done.saved,
        insertions=done.insertions,
        deletions=done.deletions,
    )


@dataclass(frozen=True)
class How:
    """How commits are joined. Without `rebase` the configuration says."""

    rebase: bool | None = None
    ff_only: bool = False
    prune: bool = False


def _integrate(repository: Repository, programs: Programs, tip: str, source: Source, how: How) -> Outcome:
    with repository.opened() as handle:
        ours = None if handle.head_is_unborn else str(handle.head.target)
        if ours == tip or (ours is not None and handle.descendant_of(ours, tip)):
            return Outcome("already up to date")
        if ours is None or handle.descendant_of(tip, ours):
            return _forward(repository, programs, handle, tip)
        ahead, behind = handle.ahead_behind(ours, tip)
    joined = "rebased" if how.rebase else "merged"
    raise GitFailed(
        f"Not {joined}: branch and {source.remote.name} have diverged: {ahead} commits here, {behind} there.",
        hints=["git_merge or git_rebase"],
    )


def _forward(repository: Repository, programs: Programs, handle: pygit2.Repository, tip: str) -> Outcome:
    put = put_tree(repository, programs, handle, str(handle[tip].peel(pygit2.Tree).id))
    note_orig_head(handle)
    move_head(handle, tip, "pull: Fast-forward")
    return Outcome(f"fast-forward to {tip[:10]}", notes=put.notes)
