from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.config.settings import LedgerSettings
from codeplane.ledger import Ledger, Limits, Tasks
from tests.ledger.making import LIMITS


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "ledger"


@pytest.fixture
def ledger(directory: Path) -> Iterator[Ledger]:
    made = Ledger.open(directory, LedgerSettings())
    yield made
    made.close()


@pytest.fixture
def tasks(ledger: Ledger) -> Tasks:
    return Tasks(ledger, Limits(*LIMITS), lambda: ("c" * 40, 7))
