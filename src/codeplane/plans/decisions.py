"""Decisions about plans, kept for the case that the same question comes up about the same contents."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from codeplane.core.documents import decode_json
from codeplane.core.paths import Digest, RepoPath
from codeplane.storage.database import Database

_MOST: Final = 200


@dataclass(frozen=True)
class Decision:
    """What somebody has chosen, and the files that the question was about."""

    files: Mapping[RepoPath, Digest]
    selected: Sequence[str]
    proof: Mapping[str, Any]  # what was claimed for it
    made_ms: int


class DecisionStore:
    """The last decisions, by the signature of their question."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, signature: str) -> Decision | None:
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT files, selected, proof, made_ms FROM decision WHERE signature = ?", (signature,)
            ).fetchone()
        if row is None:
            return None
        try:
            files, selection, proof = (decode_json(str(text).encode()) for text in row[:3])
        except (ValueError, RecursionError):
            return None
        is_sound = isinstance(files, dict) and isinstance(selection, list) and isinstance(proof, dict)
        return Decision(files, [str(one) for one in selection], proof, row[3]) if is_sound else None

    def save(self, signature: str, decision: Decision) -> None:
        texts = (json.dumps(one) for one in (dict(decision.files), decision.selected, dict(decision.proof)))
        with self._database.write() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO decision (signature, files, selected, proof, made_ms)"
                " VALUES (?, ?, ?, ?, ?)",
                (signature, *texts, decision.made_ms),
            )
            connection.execute(
                "DELETE FROM decision WHERE signature NOT IN"
                " (SELECT signature FROM decision ORDER BY made_ms DESC, rowid DESC LIMIT ?)",
                (_MOST,),
            )
