"""What batch indexers have said, as answers tell it."""

import time
from collections.abc import Mapping
from typing import Final

from codeplane.names import Snapshot

_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"))


def with_age(snapshot: Snapshot, counts: Mapping[str, int]) -> dict[str, int]:
    """Counts by indexer and version, with how long ago it has run."""
    ages = {f"{run.indexer} {run.version}".strip(): run.at_ms for run in snapshot.semantics.runs.values()}
    return {f"{name} ({_age(ages.get(name, 0))} ago)": count for name, count in counts.items()}


def _age(at_ms: int) -> str:
    seconds = max(0, int(time.time() - at_ms / 1000))
    return next((f"{seconds // size} {unit}" for size, unit in _UNITS if seconds >= size), f"{seconds} s")
