"""Artifacts: what an operation did in full, for a few days, where the user wants it kept."""

import time
from pathlib import Path
from typing import Final

from codeplane.config.settings import LedgerSettings
from codeplane.core.errors import CodePlaneError
from codeplane.core.paths import Digest
from codeplane.storage.objects import ObjectStore

_HOUR_SEC: Final = 3600
_LARGEST: Final = 8_000_000


class Artifacts:
    """Full diffs and logs by their digests. Rows name them; the ledger holds without them."""

    def __init__(self, directory: Path, settings: LedgerSettings) -> None:
        self._settings = settings
        self._store = ObjectStore(directory)

    @property
    def are_wanted(self) -> bool:
        return self._settings.artifacts

    def keep(self, data: bytes) -> Digest | None:
        """Keeps it, and says by which digest; None where nothing is kept, or this cannot be.

        What is kept is a convenience: it is never the reason that an operation fails.
        """
        if not self.are_wanted or not data:
            return None
        try:
            return self._store.put(data[:_LARGEST], durable=False)
        except (OSError, CodePlaneError):
            return None

    def read(self, digest: Digest) -> bytes | None:
        """What was kept; None when it is gone."""
        return self._store.read(digest)

    def tidy(self) -> int:
        """Drops what is older than it may get, whatever the settings say about new ones."""
        return self._store.collect(lambda _: False, time.time() - self._settings.artifact_hours * _HOUR_SEC)
