from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.config import Places
from codeplane.server.pipeline import Pipeline
from codeplane.session import Checkout, RepoSession
from codeplane.tools import Tool
from tests.drive import user_env
from tests.toy_tools import toys_found


@pytest.fixture
def toys() -> Iterator[dict[str, Tool]]:
    with toys_found() as tools:
        yield tools


@pytest.fixture
def places(home: Path) -> Places:
    return Places.of_user(user_env(home))


@pytest.fixture
def session(repo: Path, places: Places) -> Iterator[RepoSession]:
    settings = ["server.call_timeout_sec=0.4", "server.workers=2"]
    made = RepoSession.open(Checkout.find(repo, places, settings))
    yield made
    made.close()


@pytest.fixture
def pipeline(session: RepoSession, toys: dict[str, Tool]) -> Pipeline:
    return Pipeline(session, toys)
