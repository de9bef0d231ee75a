"""Which repository this is, as all of its clones tell it: by its remotes, else by its first commit."""

import hashlib
import re
from typing import Final
from urllib.parse import urlsplit

import pygit2

from codeplane.core.errors import InvalidArgument
from codeplane.git import Repository
from codeplane.git.remote.remotes import list_remotes

_FIRST: Final = ("origin", "upstream")
_SCP_LIKE: Final = re.compile(r"(?:[^@/:]+@)?([A-Za-z0-9.-]+):(?!//)(.+)")
_MOST_COMMITS: Final = 2_000_000
_SHOWN: Final = ("refs/heads/", "refs/remotes/", "refs/tags/", "refs/pull/", "refs/merge-requests/")


def repository_ids(repository: Repository) -> list[str]:
    """The names that a store may have this repository under, the likeliest first.

    A remote counts by its host and path, whichever way it is reached; its URL is not in the name. Paths of
    this machine count for nothing.
    """
    with repository.opened() as handle:
        remotes = sorted(list_remotes(handle), key=lambda remote: (remote.name not in _FIRST, remote.name))
        places = [place for remote in remotes if (place := remote_place(remote.url))]
        if not places and (root := _first_commit(handle)):
            places = [root]
    return list(dict.fromkeys(hashlib.sha256(place.encode()).hexdigest()[:32] for place in places))


def remote_place(url: str) -> str:
    """Host and path of a remote: the same for SSH and HTTPS, with or without a user; "" for a local path."""
    match = _SCP_LIKE.fullmatch(url)
    if match is not None and "://" not in url:
        host, path = match[1], match[2]
    else:
        try:
            parts = urlsplit(url)
            host, path = parts.hostname or "", parts.path
        except ValueError:
            return ""
        if parts.scheme not in ("ssh", "git", "git+ssh", "https", "http"):
            return ""
    path = path.strip("/").removesuffix(".git").rstrip("/")
    return f"{host.lower()}/{path}" if host and path else ""


def is_behind(repository: Repository, old: str, new: str) -> bool:
    """Whether a commit comes before another in history; by their times where this clone can't tell."""
    with repository.opened() as handle:
        newer = handle.get(new)
        older = handle.get(old)
        if not isinstance(newer, pygit2.Commit):
            return False
        if not isinstance(older, pygit2.Commit):
            return True  # not fetched, or on a branch that is gone
        if handle.descendant_of(new, old):
            return True
        return bool(handle.is_shallow and newer.commit_time > older.commit_time)


def check_is_shared(repository: Repository, commit: str) -> None:
    """Refuses a commit that no branch, tag or checkout leads to: a stash or an autosave is work in
    progress."""
    with repository.opened() as handle:
        tips = [
            str(target.id)
            for name in handle.references
            if name.startswith(_SHOWN) and (target := _peel_reference(handle, name)) is not None
        ]
        if not handle.head_is_unborn:
            tips.append(str(handle.head.target))
        if commit in tips or any(handle.descendant_of(tip, commit) for tip in dict.fromkeys(tips)):
            return
    raise InvalidArgument(
        f"The commit {commit[:12]} is on no branch and has no tag: what was only put aside is not shared.",
        hints=["Name a commit of a branch."],
    )


def _peel_reference(handle: pygit2.Repository, name: str) -> pygit2.Commit | None:
    try:
        return handle.references[name].peel(pygit2.Commit)
    except (pygit2.GitError, KeyError, ValueError):
        return None


def _first_commit(handle: pygit2.Repository) -> str:
    """The first commit of the history of HEAD, along first parents; "" where it isn't in this clone."""
    if handle.head_is_unborn or handle.is_shallow:
        return ""
    commit = handle.head.peel(pygit2.Commit)
    for _ in range(_MOST_COMMITS):
        if not commit.parent_ids:
            return str(commit.id)
        parent = handle.get(commit.parent_ids[0])
        if not isinstance(parent, pygit2.Commit):
            return ""
        commit = parent
    return ""
