"""What is known of files between two looks at the working tree, and what one look found out."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from codeplane.core.paths import Digest, RepoPath

RACY_NS = 2_000_000_000
"""A time stamp this close to the moment of reading does not prove that the bytes are still the same."""

UNSETTLED = 0
"""The `ctime_ns` of a file that was read too soon after it changed: the next look reads it again."""


class Known(NamedTuple):
    """A file as it was when it was read. Equal stat fields mean equal bytes, unless it is unsettled."""

    digest: Digest
    mtime_ns: int
    size: int
    inode: int
    ctime_ns: int
    mode: int

    @classmethod
    def of(cls, digest: Digest, found: os.stat_result, *, settled: bool) -> "Known":
        ctime = found.st_ctime_ns if settled else UNSETTLED
        return cls(digest, found.st_mtime_ns, found.st_size, found.st_ino, ctime, found.st_mode)


@dataclass(frozen=True)
class Delta:
    """The difference between what was known and the working tree.

    `added`, `changed`, `removed` and `touched` are disjoint. `renamed` only relates a removed path to an
    added one with the same bytes. `refused`, `links` and `submodules` are not differences: they list all
    there are now.
    """

    added: Mapping[RepoPath, Known]
    changed: Mapping[RepoPath, Known]
    removed: frozenset[RepoPath]
    renamed: Mapping[RepoPath, RepoPath]
    touched: Mapping[RepoPath, Known]
    refused: Mapping[RepoPath, str]
    links: Mapping[RepoPath, RepoPath]
    submodules: Mapping[RepoPath, str | None]

    def __bool__(self) -> bool:
        """Whether the content of the tree differs; new time stamps alone do not count."""
        return bool(self.added or self.changed or self.removed)

    def applied_to(self, known: Mapping[RepoPath, Known]) -> dict[RepoPath, Known]:
        """What is known after this look."""
        rest = {path: entry for path, entry in known.items() if path not in self.removed}
        return rest | dict(self.added) | dict(self.changed) | dict(self.touched)


def digest_of(data: bytes) -> Digest:
    """The digest of a file with these bytes."""
    return Digest(hashlib.sha256(data).hexdigest())


def is_racy(found: os.stat_result, now_ns: int) -> bool:
    """Whether the file may still change without its time stamps showing it."""
    return abs(now_ns - found.st_mtime_ns) < RACY_NS or abs(now_ns - found.st_ctime_ns) < RACY_NS


def renames(removed: Mapping[RepoPath, Known], added: Mapping[RepoPath, Known]) -> dict[RepoPath, RepoPath]:
    """Pairs of a removed and an added path with the same bytes, the same file name before any other."""
    pairs: dict[RepoPath, RepoPath] = {}
    for mark in (_digest_and_name, _digest_alone):
        targets = set(pairs.values())
        places: dict[tuple[str, str], list[RepoPath]] = {}
        for path in sorted(added.keys() - targets, reverse=True):
            if added[path].size:
                places.setdefault(mark(path, added[path]), []).append(path)
        for path in sorted(removed.keys() - pairs.keys()):
            if candidates := places.get(mark(path, removed[path])):
                pairs[path] = candidates.pop()
    return pairs


def _digest_and_name(path: RepoPath, entry: Known) -> tuple[str, str]:
    return entry.digest, path.rpartition("/")[2]


def _digest_alone(_: RepoPath, entry: Known) -> tuple[str, str]:
    return entry.digest, ""
