"""Decisions about what names mean, kept for the case that the same question comes up in the same files."""

import json
import time
from pathlib import Path
from typing import Any, Final

from codeplane.core.documents import decode_json
from codeplane.refactor import Plan
from codeplane.refactor.witness import signature
from codeplane.storage.files import read_small, write_private

_MOST: Final = 200
_LARGEST: Final = 8 << 20


class Decisions:
    """The last decisions, by the signature of their question."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def find(self, plan: Plan) -> list[str] | None:
        """The groups that were chosen when the same question was asked about the same contents."""
        kept = self._read().get(signature(plan))
        if not isinstance(kept, dict) or kept.get("files") != dict(plan.read):
            return None
        chosen = kept.get("selected")
        known = {group.id for group in plan.groups}
        return [str(one) for one in chosen if one in known] if isinstance(chosen, list) else None

    def keep(self, plan: Plan, selected: list[str], proof: dict[str, Any]) -> None:
        kept = self._read()
        kept.pop(signature(plan), None)
        kept[signature(plan)] = {
            "files": dict(plan.read),
            "selected": selected,
            "proof": proof,
            "created_ms": int(time.time() * 1000),
        }
        while len(kept) > _MOST:
            del kept[next(iter(kept))]
        write_private(self._file, json.dumps(kept).encode())

    def _read(self) -> dict[str, Any]:
        data = read_small(self._file, _LARGEST)
        try:
            found = decode_json(data) if data is not None else {}
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}
