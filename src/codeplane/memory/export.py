"""Memories, their changelog and friction as lines of JSON."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, Literal

from codeplane.memory.store import MemoryStore

Subject = Literal["records", "changelog", "friction"]


def export_lines(store: MemoryStore, subject: Subject) -> Iterator[str]:
    """One JSON object a line, from the oldest."""
    sources: dict[Subject, Any] = {
        "records": store.list_all,
        "changelog": store.changes,
        "friction": store.friction.list_entries,
    }
    entries: Iterable[Any] = sources[subject]()
    for entry in entries:
        yield json.dumps(entry.to_dict())
