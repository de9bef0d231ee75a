"""The files below a directory, as a tree of bounded depth."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
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


@dataclass(frozen=True)
class Wish:
    """What to list: a directory, so deep, so many entries; with globs, what they hold at any depth."""

    path: RepoPath
    depth: int
    limit: int
    globs: Globs | None = None

    def holds(self, path: str) -> bool:
        return self.globs is None or self.globs.holds(path)


def list_files(snapshot: Snapshot, wish: Wish, links: Mapping[RepoPath, RepoPath]) -> Listed:
    """Lists files, and links with where they lead."""
    path, limit = wish.path, wish.limit
    paths = [one for one in _below(snapshot, path) if wish.holds(one)]
    listed = Listed(len(paths))
    start = len(path) + 1 if path else 0
    deepest = MOST_DEPTH if wish.globs is not None else wish.depth
    folded: Counter[tuple[str, str]] = Counter()
    plain: dict[str, list[str]] = {}
    for one in paths:
        parts = one[start:].split("/")
        if len(parts) > deepest:
            folded["/".join(parts[: deepest - 1]), parts[deepest - 1]] += 1
        else:
            plain.setdefault("/".join(parts[:-1]), []).append(parts[-1])
    for link, target in sorted(links.items()):
        inner = link[start:]
        if (not path or link.startswith(f"{path}/")) and wish.holds(link) and inner.count("/") < deepest:
            directory, _, name = inner.rpartition("/")
            plain.setdefault(directory, []).append(f"{name} -> {target}")
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
