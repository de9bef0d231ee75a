from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.plans import Workflow, WorkPlans, build_workflow
from codeplane.storage.database import Database
from codeplane.storage.state_db import open_state_db


def core() -> Workflow:
    return build_workflow(("core",), ("python",), ("code-delta",))


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_state_db(tmp_path / "state.db")
    yield opened
    opened.close()


@pytest.fixture
def plans(database: Database) -> WorkPlans:
    return WorkPlans(lambda: database, core)
