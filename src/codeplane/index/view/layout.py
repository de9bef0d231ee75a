"""Which files a view has, by directory and by name."""

from collections.abc import Iterable, Mapping, Set
from functools import cached_property
from typing import cast

from codeplane.core.paths import RepoPath


class Layout:
    """The paths of a view and the blobs that they map to."""

    def __init__(self, blobs: Mapping[str, int | None]) -> None:
        self.blobs = blobs

    @property
    def _paths(self) -> Mapping[RepoPath, int | None]:
        """The blobs by paths that are known to be of the repository; whoever asks may have any text."""
        return cast("Mapping[RepoPath, int | None]", self.blobs)

    @cached_property
    def directories(self) -> dict[str, list[str]]:
        """Directory → the names of the files directly in it, in order. Every directory above one is there."""
        children: dict[str, list[str]] = {"": []}
        for path in self.blobs:
            directory, _, name = path.rpartition("/")
            if directory not in children:
                for above in _with_parents(directory):
                    children.setdefault(above, [])
            children[directory].append(name)
        for names in children.values():
            names.sort()
        return children

    @cached_property
    def ordered(self) -> list[RepoPath]:
        """All paths in order."""
        return sorted(self._paths)

    @cached_property
    def by_name(self) -> dict[str, list[RepoPath]]:
        paths_by_name: dict[str, list[RepoPath]] = {}
        for path in sorted(self._paths):
            paths_by_name.setdefault(path.rsplit("/", 1)[-1], []).append(path)
        return paths_by_name

    @cached_property
    def by_blob(self) -> dict[int, list[RepoPath]]:
        paths_by_blob: dict[int, list[RepoPath]] = {}
        for path, blob in self._paths.items():
            if blob is not None:
                paths_by_blob.setdefault(blob, []).append(path)
        return paths_by_blob

    def overlaid(self, blobs: Mapping[str, int | None], without: Set[str]) -> "Layout":
        """Other contents under some paths, which may be new, and some paths less."""
        if not without and blobs.keys() <= self.blobs.keys():
            return self.changed(blobs.items())
        return Layout({path: blob for path, blob in {**self.blobs, **blobs}.items() if path not in without})

    def changed(self, changes: Iterable[tuple[str, int | None]]) -> "Layout":
        """A layout of the same paths with other content under some of them."""
        changes = list(changes)
        other = Layout({**self.blobs, **dict(changes)})
        for name in ("directories", "by_name", "ordered"):
            if name in self.__dict__:
                other.__dict__[name] = self.__dict__[name]
        if "by_blob" in self.__dict__:
            other.__dict__["by_blob"] = self._by_blob_with({RepoPath(path): blob for path, blob in changes})
        return other

    def _by_blob_with(self, changes: Mapping[RepoPath, int | None]) -> dict[int, list[RepoPath]]:
        paths_by_blob = dict(self.by_blob)
        for path, blob in changes.items():
            old = self.blobs.get(path)
            if old is not None:
                paths_by_blob[old] = [one for one in paths_by_blob[old] if one != path]
            if blob is not None:
                paths_by_blob[blob] = sorted([*paths_by_blob.get(blob, ()), path])
        return paths_by_blob


def _with_parents(directory: str) -> Iterable[str]:
    while directory:
        yield directory
        directory = directory.rpartition("/")[0]
