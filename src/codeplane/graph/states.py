"""States of a repository by the names that users give them: a commit, an epoch, the working tree."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from codeplane.graph.diff import WORKING_TREE, State
from codeplane.index import Snapshot

_EPOCH: Final = re.compile(r"epoch:(\d{1,15})\Z")


def commits_among(names: Sequence[str | None]) -> list[str]:
    """The names that are those of commits."""
    return [name for name in dict.fromkeys(names) if name is not None and not _EPOCH.match(name)]


def state_of(
    now: Snapshot, commits: Mapping[str, Snapshot], name: str | None
) -> tuple[State, Snapshot | None]:
    """A state, and the snapshot to ask about references where there is one."""
    if name is not None and (epoch := _EPOCH.match(name)):
        return State(name, now.contents_at(int(epoch[1])), now.linker.sources, None), None
    snapshot = now if name is None else commits[name]
    sources = snapshot.linker.sources
    return State(name or WORKING_TREE, sources.memo.layout.blobs, sources, snapshot.source), snapshot
