"""The names in git's index, read from the file itself: git keeps a tracked file whatever ignores it."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from codeplane.core.paths import RepoPath
from codeplane.git.repo.index_file import entries, mode_of
from codeplane.jail import is_closed
from codeplane.working_tree.plain_file import read_plain

_GITLINK = 0o160000
_LARGEST = 1 << 30


@dataclass(frozen=True)
class Tracked:
    """Tracked files, the directories above them, and the submodules that the index records."""

    files: frozenset[RepoPath] = frozenset()
    submodules: frozenset[RepoPath] = frozenset()
    directories: frozenset[str] = field(default=frozenset())
    sources: tuple[bytes, ...] = field(default=(), repr=False, compare=False)  # what they were read from

    @classmethod
    def read(cls, index: Path, known: "Tracked | None" = None) -> "Tracked":
        """The names in an index file; none when there is no index or it is damaged.

        Of a split index both halves are read, so a name that only the older half has may be too many. What is
        known already comes back where the bytes are still the same.
        """
        places = (index, *index.parent.glob("sharedindex.*"))
        sources = tuple(read_plain(str(place), _LARGEST) or b"" for place in places)
        if known is not None and known.sources == sources:
            return known
        files, links = set[RepoPath](), set[RepoPath]()
        for raw, fields in (entry for source in sources for entry in entries(source)):
            name = RepoPath(os.fsdecode(raw))
            (links if mode_of(fields) & 0o170000 == _GITLINK else files).add(name)
        return cls(frozenset(files), frozenset(links), frozenset(_parent_folders(files | links)), sources)


def ships(index: Path, name: str) -> bool:
    """Whether git tracks a file that begins with this name in a private directory, in any spelling."""
    data = read_plain(str(index), _LARGEST) or b""
    is_whole = data[:8] in (b"DIRC\0\0\0\2", b"DIRC\0\0\0\3") and not any(index.parent.glob("sharedindex.*"))
    # Names are written out in such an index; most say at once that there is nothing to look for.
    if is_whole and name.encode() not in data.lower():
        return False
    paths = (path.partition("/") for path in Tracked.read(index).files)
    return any(is_closed(outer) and inner.lower().startswith(name) for outer, _, inner in paths)


def _parent_folders(paths: set[RepoPath]) -> set[str]:
    folders: set[str] = set()
    for path in paths:
        parent = path.rpartition("/")[0]
        while parent and parent not in folders:
            folders.add(parent)
            parent = parent.rpartition("/")[0]
    return folders
