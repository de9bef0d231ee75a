"""The files below a directory, as a tree of bounded depth."""

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.index import Snapshot
from codeplane.search.scope import Globs

MOST_DEPTH: Final = 20


@dataclass
class Listed:
    """Directory → what is in it; a directory that is not entered is there with its number of files."""

    files: int = 0
    tree: dict[str, list[str]] = field(default_factory=dict)
    entries: int = 0
    left: int = 0  # entries beyond the limit


def list_files(snapshot: Snapshot, path: RepoPath, depth: int, globs: Globs | None, limit: int) -> Listed:
    """Lists a directory; with globs, the files that they hold, at any depth."""
    paths = _below(snapshot, path)
    if globs is not None:
        paths = [one for one in paths if globs.holds(one)]
    listed = Listed(len(paths))
    start = len(path) + 1 if path else 0
    deepest = MOST_DEPTH if globs is not None else depth
    folded: Counter[tuple[str, str]] = Counter()
    plain: dict[str, list[str]] = {}
    for one in paths:
        parts = one[start:].split("/")
        if len(parts) > deepest:
            folded["/".join(parts[: deepest - 1]), parts[deepest - 1]] += 1
        else:
            plain.setdefault("/".join(parts[:-1]), []).append(parts[-1])
    closed: dict[str, list[str]] = {}
    for (directory, name), count in sorted(folded.items()):
        closed.setdefault(directory, []).append(f"{name}/ ({count})")
    for directory in sorted(plain.keys() | closed.keys()):
        names = closed.get(directory, []) + plain.get(directory, [])
        room = limit - listed.entries
        if room > 0:
            listed.tree[f"{path}/{directory}".strip("/") or "."] = names[:room]
        listed.entries += min(len(names), max(room, 0))
        listed.left += max(0, len(names) - max(room, 0))
    return listed


def _below(snapshot: Snapshot, path: RepoPath) -> list[str]:
    paths = snapshot.linker.sources.memo.layout.ordered
    if not path:
        return paths
    return paths[bisect_left(paths, f"{path}/") : bisect_left(paths, f"{path}0")]
