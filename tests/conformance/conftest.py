from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conformance import base

STOP_SECONDS = 10


def isolated(home: Path) -> dict[str, str]:
    """This environment without what a program could find the user's own folders by."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    return {**kept, "HOME": str(home), "MCP_CATALOG_PATH": str(home / "mcp.json")}


@contextmanager
def running(command: list[str], cwd: Path, home: Path) -> Iterator[str]:
    """Runs a server and yields the first line that it prints."""
    with subprocess.Popen(command, cwd=cwd, env=isolated(home), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            line = process.stdout.readline().strip()
            assert line, f"{command} printed nothing"
            yield line
        finally:
            process.terminate()
            _reap(process)


def _reap(process: subprocess.Popen[str]) -> None:
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()


def make_repository(root: Path) -> Path:
    """A git repository with one committed file."""
    (root / "house.py").write_text("def door() -> str:\n    return 'open'\n", encoding="utf-8")
    settings = ("user.name=Test", "user.email=test@example.com", "commit.gpgsign=false")
    git = ["git", *(part for setting in settings for part in ("-c", setting))]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "House"]):
        subprocess.run([*git, *arguments], cwd=root, check=True)
    return root


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home folder for the programs that the tests start."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_repository(tmp_path_factory.mktemp("repository"))


@pytest.fixture(scope="session")
def profile_url(tmp_path_factory: pytest.TempPathFactory, home: Path) -> Iterator[str]:
    """The URL of the server under test, with the conformance profile installed."""
    served = make_repository(tmp_path_factory.mktemp("profile"))
    command = [sys.executable, "-m", "tests.conformance.serve", str(served)]
    with running(command, Path(__file__).parents[2], home) as url:
        yield url


@pytest.fixture(scope="session")
def endpoint(tmp_path_factory: pytest.TempPathFactory, home: Path) -> Iterator[base.Endpoint]:
    """The server under test over HTTP, as it is."""
    served = make_repository(tmp_path_factory.mktemp("endpoint"))
    with running(base.HTTP_COMMAND, served, home) as line:
        yield base.started(line, served)
