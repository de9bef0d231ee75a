"""Stores whose facts were found to be wrong: the user's record, outside of any repository."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Final

from codeplane.core.documents import decode_json
from codeplane.storage.files import read_small

_LARGEST: Final = 1 << 20
_MOST: Final = 1_000

Writer = Callable[[Path, bytes], None]


class DistrustRecord:
    """Why a store is not used, by its label."""

    def __init__(self, file: Path, write: Writer) -> None:
        self._file, self._write = file, write

    def find_reason(self, label: str) -> str | None:
        """What was found out about a store; None where nothing was."""
        return self._read_entries().get(label)

    def add(self, label: str, reason: str) -> None:
        entries = {**self._read_entries(), label: reason}
        self._save_entries(dict(list(entries.items())[-_MOST:]))

    def remove(self, label: str) -> bool:
        entries = self._read_entries()
        if entries.pop(label, None) is None:
            return False
        self._save_entries(entries)
        return True

    def _read_entries(self) -> dict[str, str]:
        try:
            entries = decode_json(read_small(self._file, _LARGEST) or b"{}")
        except ValueError:
            return {}
        if not isinstance(entries, dict):
            return {}
        return {str(label): str(reason) for label, reason in entries.items()}

    def _save_entries(self, entries: dict[str, str]) -> None:
        self._write(self._file, json.dumps(entries, indent=2, sort_keys=True).encode() + b"\n")
