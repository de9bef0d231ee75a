"""Commits that one branch alone keeps alive."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Final

import pygit2

from codeplane.core.errors import WorkAtRisk
from codeplane.git.history.commit_info import info_of
from codeplane.git.remote.refspecs import text_names
from codeplane.git.repo.heads import BRANCHES
from codeplane.git.repo.outcome import list_names, short_oid
from codeplane.git.repo.repository import Repository
from codeplane.git.worktree.autosave import SAVED
from codeplane.jail import shown

_MOST_COMMITS: Final = 1000
_LONGEST_SUBJECT: Final = 60


def own_commits(
    handle: pygit2.Repository, branch: str, detached_heads: Sequence[str] = ()
) -> list[pygit2.Commit]:
    """The commits that only this branch reaches, newest first, up to a bound; `detached_heads` of other
    checkouts keep commits too."""
    name = BRANCHES + branch
    reference = handle.references.get(name)
    if reference is None:
        return []
    walker = handle.walk(reference.peel(pygit2.Commit).id)
    for other in ref_tips(handle):
        if other.name != name:
            walker.hide(other.peel(pygit2.Commit).id)
    for head in detached_heads:
        walker.hide(head)
    return list(itertools.islice(walker, _MOST_COMMITS))


def save_own_commits(repository: Repository, branch: str, goal: str, *, force: bool) -> str | None:
    """The reference that keeps what a branch loses when it moves to `goal`; refused without `force`."""
    with repository.opened() as handle:
        commits = own_commits(handle, branch)
        tip = str(commits[0].id) if commits else goal
        if tip == goal or handle.descendant_of(goal, tip):
            return None
        if not force:
            names = list_names(describe_commit(one) for one in commits)
            raise WorkAtRisk(
                f"{branch} has commits that nothing else has: {names}.",
                hints=["force: true goes on; a reference keeps them"],
            )
        name = f"{SAVED}worktree-{short_oid(tip)}"
        handle.create_reference(name, tip, force=True)
        return name


def describe_commit(commit: pygit2.Commit) -> str:
    """A commit in a list of them."""
    return f"{short_oid(str(commit.id))} {shown(info_of(commit).subject)[:_LONGEST_SUBJECT]}"


def ref_tips(handle: pygit2.Repository) -> Iterator[pygit2.Reference]:
    """Branches and tags, local and remote, that lead to commits."""
    for name in text_names(handle):
        if name.startswith((BRANCHES, "refs/remotes/", "refs/tags/")):
            reference = handle.references[name].resolve()
            if isinstance(handle.get(reference.target), pygit2.Commit | pygit2.Tag):
                yield reference
