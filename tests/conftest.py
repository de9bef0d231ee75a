import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from codeplane.index import Workers
from codeplane.session import repo as repo_module
from tests.drive import Cpl, new_repo, user_env

# The suite tries the same examples every time, so that a red run can be repeated.
settings.register_profile("suite", derandomize=True, deadline=None)
settings.load_profile("suite")


# Room for everything that one run leaves behind, with much to spare.
_ROOM = 2 << 30


def pytest_configure() -> None:
    """Files of tests are in memory where it has the room: a disk takes twice as long for small ones."""
    memory = Path("/dev/shm")
    if memory.is_dir() and shutil.disk_usage(memory).free > _ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(memory))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="Rewrite the expected parts of text cases.")


class _Shared(Workers):
    """Worker processes that outlive those who close them."""

    def close(self) -> None:
        """They go on with the next test."""


@pytest.fixture(scope="session")
def workers() -> Iterator[Workers]:
    """Two real worker processes, shared: starting them is the slow part."""
    made = _Shared(2)
    yield made
    Workers.close(made)


@pytest.fixture(scope="session", autouse=True)
def every_session_has_them(workers: Workers) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repo_module, "Workers", lambda _: workers)
        yield


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir()
    return path


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return new_repo(tmp_path / "repo")


@pytest.fixture
def cpl(repo: Path, home: Path) -> Cpl:
    return Cpl(repo, user_env(home))
