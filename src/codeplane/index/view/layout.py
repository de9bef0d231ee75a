"""Which files a view has, by directory and by name."""

from collections.abc import Iterable, Mapping, Set
from functools import cached_property


class Layout:
    """The paths of a view and the blobs that they map to."""

    def __init__(self, blobs: Mapping[str, int | None]) -> None:
        self.blobs = blobs

    @cached_property
    def directories(self) -> dict[str, list[str]]:
        """Directory → the names of the files directly in it, in order. Every directory above one is there."""
        found: dict[str, list[str]] = {"": []}
        for path in self.blobs:
            directory, _, name = path.rpartition("/")
            if directory not in found:
                for above in _with_parents(directory):
                    found.setdefault(above, [])
            found[directory].append(name)
        for names in found.values():
            names.sort()
        return found

    @cached_property
    def ordered(self) -> list[str]:
        """All paths in order."""
        return sorted(self.blobs)

    @cached_property
    def by_name(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in sorted(self.blobs):
            found.setdefault(path.rsplit("/", 1)[-1], []).append(path)
        return found

    @cached_property
    def by_blob(self) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        for path, blob in self.blobs.items():
            if blob is not None:
                found.setdefault(blob, []).append(path)
        return found

    def overlaid(self, blobs: Mapping[str, int | None], without: Set[str]) -> "Layout":
        """Other contents under some paths, which may be new, and some paths less."""
        if not without and blobs.keys() <= self.blobs.keys():
            return self.changed(blobs.items())
        return Layout({path: blob for path, blob in {**self.blobs, **blobs}.items() if path not in without})

    def changed(self, changes: Iterable[tuple[str, int | None]]) -> "Layout":
        """The same paths with other content under some of them."""
        changes = list(changes)
        other = Layout({**self.blobs, **dict(changes)})
        for name in ("directories", "by_name", "ordered"):
            if name in self.__dict__:
                other.__dict__[name] = self.__dict__[name]
        if "by_blob" in self.__dict__:
            other.__dict__["by_blob"] = self._by_blob_with(dict(changes))
        return other

    def _by_blob_with(self, changes: Mapping[str, int | None]) -> dict[int, list[str]]:
        found = dict(self.by_blob)
        for path, blob in changes.items():
            old = self.blobs.get(path)
            if old is not None:
                found[old] = [one for one in found[old] if one != path]
            if blob is not None:
                found[blob] = sorted([*found.get(blob, ()), path])
        return found


def _with_parents(directory: str) -> Iterable[str]:
    while directory:
        yield directory
        directory = directory.rpartition("/")[0]
