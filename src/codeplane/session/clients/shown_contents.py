"""Contents that clients have been shown, so that an edit made for one of them can be followed."""

import threading
import zlib
from collections import OrderedDict
from typing import Final

from codeplane.core.paths import Digest, RepoPath

_MOST_BYTES: Final = 8 << 20
_LARGEST: Final = 4 << 20
_MOST_SEEN: Final = 5_000


class ShownContents:
    """The last contents that were shown, packed, up to a bound."""

    def __init__(self) -> None:
        self._by_digest: OrderedDict[Digest, bytes] = OrderedDict()
        self._size = 0
        self._guard = threading.Lock()

    def keep(self, digest: Digest, data: bytes) -> None:
        if len(data) > _LARGEST:
            return
        with self._guard:
            if digest in self._by_digest:
                self._by_digest.move_to_end(digest)
                return
        archive = zlib.compress(data, 1)
        with self._guard:
            if digest not in self._by_digest:
                self._by_digest[digest] = archive
                self._size += len(archive)
            while self._size > _MOST_BYTES:
                self._size -= len(self._by_digest.popitem(last=False)[1])

    def get(self, digest: Digest) -> bytes | None:
        with self._guard:
            archive = self._by_digest.get(digest)
        return zlib.decompress(archive) if archive is not None else None


class ShownDigests:
    """The content that each file had when it was last shown to one client."""

    def __init__(self) -> None:
        self._digests: OrderedDict[RepoPath, Digest] = OrderedDict()

    def note(self, path: RepoPath, digest: Digest) -> None:
        self._digests[path] = digest
        self._digests.move_to_end(path)
        if len(self._digests) > _MOST_SEEN:
            self._digests.popitem(last=False)

    def get(self, path: RepoPath) -> Digest | None:
        return self._digests.get(path)
