from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.drive import CPL_WITH_TOYS, Cpl, Server, new_repo, user_env


@pytest.fixture
def toy_cpl(cpl: Cpl) -> Cpl:
    return replace(cpl, program=CPL_WITH_TOYS)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Cpl:
    """One repository for the tests of a module that leave it as it was."""
    base = tmp_path_factory.mktemp("shared")
    return Cpl(new_repo(base / "repo"), user_env(base / "home"), CPL_WITH_TOYS)


@pytest.fixture(scope="module")
def server(shared: Cpl) -> Iterator[Server]:
    with shared.up("--set", "server.body_timeout_sec=0.5") as running:
        yield running


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A directory outside any repository."""
    path = tmp_path / "elsewhere"
    path.mkdir()
    return path
