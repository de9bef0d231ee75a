"""One number for the state of many files, kept up by what changes rather than computed anew."""

import hashlib
import os
from collections.abc import Iterable

from codeplane.core.paths import Digest, RepoPath

_SIZE = 1 << 256


class Fingerprint:
    """Equal for equal files with equal contents, in whatever order they came."""

    def __init__(self, files: Iterable[tuple[RepoPath, Digest]] = ()) -> None:
        self._sum = sum(_entry_number(*file) for file in files) % _SIZE

    def changed(self, path: RepoPath, before: Digest | None, after: Digest | None) -> "Fingerprint":
        """The fingerprint after one file has become another; None where there is none."""
        fingerprint = Fingerprint()
        less = _entry_number(path, before) if before is not None else 0
        more = _entry_number(path, after) if after is not None else 0
        fingerprint._sum = (self._sum - less + more) % _SIZE
        return fingerprint

    def hex(self) -> str:
        return f"{self._sum:064x}"


def _entry_number(path: RepoPath, digest: Digest) -> int:
    return int.from_bytes(hashlib.sha256(os.fsencode(path) + b"\0" + digest.encode()).digest())
