"""The names in git's index, read from the file itself: git keeps a tracked file whatever ignores it."""

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from codeplane.core.paths import RepoPath
from codeplane.truth.plainfile import read_plain

_FIXED = 62
_EXTENDED = 0x4000
_GITLINK = 0o160000
_LARGEST = 1 << 30


@dataclass(frozen=True)
class Tracked:
    """Tracked files, the directories above them, and the submodules that the index records."""

    files: frozenset[RepoPath] = frozenset()
    submodules: frozenset[RepoPath] = frozenset()
    directories: frozenset[str] = field(default=frozenset())

    @classmethod
    def read(cls, index: Path) -> "Tracked":
        """The names in an index file; none when there is no index or it is damaged.

        Of a split index both halves are read, so a name that only the older half has may be too many.
        """
        files, links = set[RepoPath](), set[RepoPath]()
        for source in (index, *index.parent.glob("sharedindex.*")):
            for raw, mode in _entries(read_plain(str(source), _LARGEST) or b""):
                name = RepoPath(os.fsdecode(raw))
                (links if mode & 0o170000 == _GITLINK else files).add(name)
        return cls(frozenset(files), frozenset(links), frozenset(_parents(files | links)))


def _entries(data: bytes) -> Iterator[tuple[bytes, int]]:
    if data[:4] != b"DIRC" or len(data) < 12:
        return
    version, count = struct.unpack_from(">II", data, 4)
    at, name = 12, b""
    for _ in range(count):
        if at + _FIXED > len(data):
            return
        mode, flags = int.from_bytes(data[at + 24 : at + 28]), int.from_bytes(data[at + 60 : at + 62])
        start = at + _FIXED + (2 if flags & _EXTENDED else 0)
        if version == 4:
            cut, start = _varint(data, start)
            end = data.find(b"\0", start)
            name, at = name[: len(name) - cut] + data[start:end], end + 1
        else:
            end = data.find(b"\0", start)
            name, at = data[start:end], at + ((end - at) // 8 + 1) * 8
        if end < 0:
            return
        if name:
            yield name, mode


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = data[at] & 127
    while data[at] & 128 and at + 1 < len(data):
        at += 1
        value = ((value + 1) << 7) | (data[at] & 127)
    return value, at + 1


def _parents(paths: set[RepoPath]) -> set[str]:
    found: set[str] = set()
    for path in paths:
        parent = path.rpartition("/")[0]
        while parent and parent not in found:
            found.add(parent)
            parent = parent.rpartition("/")[0]
    return found
