"""Pulling: merging what was fetched into the current branch, or rebasing it."""

from dataclasses import dataclass, replace
from typing import Final

import pygit2

from codeplane.core.errors import InvalidArgument, NotFound
from codeplane.git.merge.merge import MergeOptions as MergeHow
from codeplane.git.merge.merge import merge
from codeplane.git.merge.rebase import plan_rebase, start_rebase
from codeplane.git.remote.fetch import FetchResult, RefUpdate, apply_fetch
from codeplane.git.remote.remotes import Remote, Upstream, find_remote, remote_for, upstream_of
from codeplane.git.remote.transfer import ignored_settings
from codeplane.git.repo.config import config_text
from codeplane.git.repo.outcome import Outcome
from codeplane.git.repo.remedies import Fix, Remedy
from codeplane.git.repo.repository import Repository
from codeplane.git.repo.state import check_possible
from codeplane.git.repo.urls import shown_url
from codeplane.process import Programs

_HEADS: Final = "refs/heads/"
# Git leaves the destination out for these.
_USUAL: Final = ("main", "master")


@dataclass(frozen=True)
class Source:
    """Where a pull gets its commits from: a remote, and the branch of it that is merged."""

    remote: Remote
    upstream: Upstream | None
    branch: str | None  # the only one that is fetched


@dataclass(frozen=True)
class PullOutcome(Outcome):
    """The outcome of a fetch or pull, with the references that moved."""

    remote: str = ""
    updates: tuple[RefUpdate, ...] = ()


def source_of(repository: Repository, remote: str | None, branch: str | None, *, merges: bool) -> Source:
    """Finds what to pull from, before the remote is contacted."""
    current = repository.head().branch
    with repository.opened() as handle:
        source = find_remote(handle, remote) if remote is not None else remote_for(handle, current)
        upstream = upstream_of(handle, current)
        if merges:
            check_possible(handle, "A pull")
    if branch is not None:
        upstream = Upstream(source.name, f"{_HEADS}{branch}")
    elif upstream is not None and upstream.remote != source.name:
        upstream = None
    if merges and upstream is None:
        raise InvalidArgument(
            f"{current or 'A detached HEAD'} tracks no branch of {source.name}: name the branch to pull.",
            hints=[Remedy(Fix.NAME_BRANCH, remote=source.name), Remedy(Fix.FETCH_ONLY, remote=source.name)],
        )
    return Source(source, upstream, branch)


def take_fetch(
    repository: Repository, fetch: FetchResult, source: Source, *, prune: bool | None = None
) -> PullOutcome:
    """Keeps what was fetched; the branch and the working tree stay."""
    merges = [source.upstream] if source.upstream is not None else []
    prunes = source.remote.prune if prune is None else prune
    updates = tuple(apply_fetch(repository, fetch, prune=prunes, merges=merges))
    refusals = tuple(
        f"{update.ref} was not updated: {update.why}." for update in updates if update.move == "rejected"
    )
    count = len(updates) - len(refusals)
    summary = (
        f"fetched {source.remote.name}: {count} references moved"
        if count
        else (f"fetched {source.remote.name}: nothing new")
    )
    notes = (*ignored_settings(repository), *refusals)
    return PullOutcome(summary, notes=notes, remote=source.remote.name, updates=updates)


def take_pull(
    repository: Repository, programs: Programs, fetch: FetchResult, source: Source, options: "PullOptions"
) -> PullOutcome:
    """Keeps what was fetched, then merges it into the current branch or rebases that onto it."""
    fetch_outcome = take_fetch(repository, fetch, source, prune=options.prune)
    assert source.upstream is not None, "BUG: a pull knows what it merges"
    tip = fetch.exchange.heads.get(source.upstream.ref)
    if tip is None:
        raise NotFound(f"{source.remote.name} has no branch {source.upstream.branch!r}.")
    outcome = _integrate_tip(repository, programs, tip, source, options)
    name = f"{source.remote.name}/{source.upstream.branch}"
    return replace(
        fetch_outcome,
        summary=f"{outcome.summary.replace(tip, name)}; {fetch_outcome.summary}",
        notes=(*fetch_outcome.notes, *outcome.notes),
        commit=outcome.commit,
        conflicts=outcome.conflicts,
        saved=outcome.saved,
        insertions=outcome.insertions,
        deletions=outcome.deletions,
    )


@dataclass(frozen=True)
class PullOptions:
    """How to integrate. Where `rebase` and `prune` are None, the configuration decides."""

    rebase: bool | None = None
    ff_only: bool = False
    prune: bool | None = None


def _integrate_tip(
    repository: Repository, programs: Programs, tip: str, source: Source, options: PullOptions
) -> Outcome:
    assert source.upstream is not None, "BUG: a pull knows what it merges"
    branch = repository.head().branch
    with repository.opened() as handle:
        rebases = options.rebase if options.rebase is not None else _is_rebase(handle, branch)
        ff_only = options.ff_only or (
            options.rebase is None and not rebases and config_text(handle, "pull.ff") == "only"
        )
        is_apart = not handle.head_is_unborn and not _is_forward(handle, tip)
    if rebases and is_apart and not ff_only:
        with repository.opened() as handle:
            return start_rebase(repository, programs, handle, plan_rebase(handle, tip, None), ())
    place = shown_url(source.remote.url).rstrip("/").removesuffix(".git")
    into = "" if branch in _USUAL else f" into {branch or 'HEAD'}"
    message = f"Merge branch '{source.upstream.branch}' of {place}{into}\n"
    return merge(
        repository, programs, tip, MergeHow(message=message, label=tip, action="pull", ff_only=ff_only)
    )


def _is_forward(handle: pygit2.Repository, tip: str) -> bool:
    ours = str(handle.head.target)
    return ours == tip or handle.descendant_of(tip, ours) or handle.descendant_of(ours, tip)


def _is_rebase(handle: pygit2.Repository, branch: str | None) -> bool:
    setting = (config_text(handle, f"branch.{branch}.rebase") if branch else None) or config_text(
        handle, "pull.rebase"
    )
    return setting is not None and setting.lower() not in ("false", "no", "off", "0", "")
