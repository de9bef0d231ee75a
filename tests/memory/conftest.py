from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from codeplane.config.settings import MemorySettings
from codeplane.memory import MemoryStore
from codeplane.storage.database import Database
from codeplane.storage.state_db import open_state_db

HOUR_MS = 3_600_000


@dataclass
class Clock:
    """A clock that tests move."""

    now_ms: int = 1_800_000_000_000

    def __call__(self) -> int:
        return self.now_ms

    def advance(self, hours: float) -> None:
        self.now_ms += round(hours * HOUR_MS)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_state_db(tmp_path / "state.db")
    yield opened
    opened.close()


@pytest.fixture
def store(database: Database, clock: Clock) -> MemoryStore:
    return MemoryStore(lambda: database, MemorySettings(), clock)
