"""The files below a directory, as a tree of bounded depth."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from codeplane.core.globs import Globs
from codeplane.core.paths import RepoPath
from codeplane.names import Snapshot

MOST_DEPTH: Final = 20


@dataclass(frozen=True)
class Listed:
    """What is in directories; one that is not entered is there with its number of files."""

    files: int
    entries: Sequence[tuple[str, str]]  # directory and name, in order

    def page(self, limit: int) -> "tuple[dict[str, list[str]], Listed | None]":
        """The first entries by directory, and the rest where there is one."""
        tree: dict[str, list[str]] = {}
        for directory, name in self.entries[:limit]:
            tree.setdefault(directory, []).append(name)
        return tree, Listed(self.files, self.entries[limit:]) if len(self.entries) > limit else None


@dataclass(frozen=True)
class Wish:
    """What to list: a directory, so deep; with globs, what they hold at any depth."""

    path: RepoPath
    depth: int
    globs: Globs | None = None

    def holds(self, path: str) -> bool:
        return self.globs is None or self.globs.holds(path)


def list_files(snapshot: Snapshot, wish: Wish, links: Mapping[RepoPath, RepoPath]) -> Listed:
    """Lists files, and links with where they lead."""
    path = wish.path
    paths = [one for one in _below(snapshot, path) if wish.holds(one)]
    start = len(path) + 1 if path else 0
    deepest = MOST_DEPTH if wish.globs is not None else wish.depth
    counts: Counter[tuple[str, str]] = Counter()
    plain: dict[str, list[str]] = {}
    for one in paths:
        parts = one[start:].split("/")
        if len(parts) > deepest:
            counts["/".join(parts[: deepest - 1]), parts[deepest - 1]] += 1
        else:
            plain.setdefault("/".join(parts[:-1]), []).append(parts[-1])
    for link, target in sorted(links.items()):
        inner = link[start:]
        if (not path or link.startswith(f"{path}/")) and wish.holds(link) and inner.count("/") < deepest:
            directory, _, name = inner.rpartition("/")
            plain.setdefault(directory, []).append(f"{name} -> {target or '.'}")
    excluded_files: dict[str, list[str]] = {}
    for (directory, name), count in sorted(counts.items()):
        excluded_files.setdefault(directory, []).append(f"{name}/ ({count})")
    entries = [
        (f"{path}/{directory}".strip("/") or ".", name)
        for directory in sorted(plain.keys() | excluded_files.keys())
        for name in excluded_files.get(directory, []) + plain.get(directory, [])
    ]
    return Listed(len(paths), entries)


def _below(snapshot: Snapshot, path: RepoPath) -> list[RepoPath]:
    paths = snapshot.layout.ordered
    if not path:
        return paths
    return paths[bisect_left(paths, f"{path}/") : bisect_left(paths, f"{path}0")]
