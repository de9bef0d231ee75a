"""How long targets have taken: the median of their last runs."""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Final

from codeplane.core.documents import decode_json
from codeplane.storage.database import Database
from codeplane.testrun.target import Target

_REMEMBERED: Final = 9
_MOST_TARGETS: Final = 20_000
_LEAST_SEC: Final = 0.001


class Costs:
    """Remembered in a database, for each target of each runner."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def applied(self, targets: Iterable[Target]) -> list[Target]:
        """The targets with what they have cost; those that were never run keep what they have."""
        with self._database.read() as connection:
            rows = connection.execute("SELECT runner, target, seconds FROM test_cost").fetchall()
        medians = {
            (runner, target): median(_read_samples(text))
            for runner, target, text in rows
            if _read_samples(text)
        }
        return [replace(one, cost=medians.get((one.runner, one.id), one.cost)) for one in targets]

    def note(self, targets: Iterable[Target], seconds: Mapping[str, float]) -> None:
        """Takes the times of whole targets into account."""
        now = int(time.time() * 1000)
        with self._database.write() as connection:
            for target in targets:
                if target.id not in seconds:
                    continue
                key = (target.runner, target.id)
                row = connection.execute(
                    "SELECT seconds FROM test_cost WHERE runner = ? AND target = ?", key
                ).fetchone()
                took = max(_LEAST_SEC, round(seconds[target.id], 4))
                last = [*_read_samples(row[0] if row else "[]"), took][-_REMEMBERED:]
                connection.execute(
                    "INSERT OR REPLACE INTO test_cost VALUES (?, ?, ?, ?)", (*key, json.dumps(last), now)
                )
            connection.execute(
                "DELETE FROM test_cost WHERE used_ms <= (SELECT used_ms FROM test_cost"
                " ORDER BY used_ms DESC LIMIT 1 OFFSET ?)",
                (_MOST_TARGETS,),
            )


def _read_samples(text: str) -> Sequence[float]:
    try:
        value = decode_json(text)
    except ValueError:
        return []
    return [float(one) for one in value if isinstance(one, int | float)] if isinstance(value, list) else []
