"""States of a repository by the names that users give them: a commit, an epoch, the working tree."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from codeplane.core.errors import NotFound
from codeplane.core.paths import RepoPath
from codeplane.graph.diff.repository import WORKING_TREE, State
from codeplane.names import Snapshot

_EPOCH: Final = re.compile(r"epoch:(\d{1,15})\Z")


def commits_among(names: Sequence[str | None]) -> list[str]:
    """The names that are those of commits."""
    return [name for name in dict.fromkeys(names) if name is not None and not _EPOCH.match(name)]


def state_of(
    now: Snapshot, commits: Mapping[str, Snapshot], name: str | None
) -> tuple[State, Snapshot | None]:
    """A state, and the snapshot to ask about references where there is one."""
    if name is not None and (epoch := _EPOCH.match(name)):
        number = int(epoch[1])
        contents = now.contents_at(number)
        state = State(name, contents, now, partial(_recorded, now, contents), number)
        return state, now if number == now.epoch else None
    snapshot = now if name is None else commits[name]
    read = snapshot.source if name is None else partial(_committed, snapshot)
    blobs = snapshot.layout.blobs
    state = State(name or WORKING_TREE, blobs, snapshot, read, snapshot.epoch, is_current=True)
    return state, snapshot


def _recorded(now: Snapshot, contents: Mapping[str, int | None], path: RepoPath) -> bytes | None:
    blob = contents.get(path)
    return now.recorded(path, blob) if blob is not None else None


def _committed(snapshot: Snapshot, path: RepoPath) -> bytes | None:
    try:
        return snapshot.source(path)
    except NotFound:
        return None  # what a pointer stands for was read elsewhere
