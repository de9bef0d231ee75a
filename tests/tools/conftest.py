from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from codeplane.config import Places
from codeplane.server.pipeline import Pipeline, Request
from codeplane.session import Checkout, RepoSession
from codeplane.tools import all_tools
from tests.drive import new_repo, user_env
from tests.tools.repo import Repo

Ask = Callable[..., dict[str, Any]]
Made = Callable[[Mapping[str, str]], Repo]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return new_repo(tmp_path / "repo")


@pytest.fixture
def session(repo: Path, tmp_path: Path) -> Iterator[RepoSession]:
    made = RepoSession.open(Checkout.find(repo, Places.of_user(user_env(tmp_path / "home"))))
    yield made
    made.close()


@pytest.fixture
def ask(session: RepoSession) -> Ask:
    """Calls a tool through the pipeline and returns the whole answer."""
    pipeline = Pipeline(session, all_tools())

    def call(tool: str, client: str = "a client", **arguments: Any) -> dict[str, Any]:
        answer = anyio.run(pipeline.call, Request(tool, arguments, client))
        return dict(answer.body)

    return call


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Made]:
    repos: list[Repo] = []

    def make(files: Mapping[str, str]) -> Repo:
        repos.append(Repo(tmp_path, files))
        return repos[-1]

    yield make
    for repo in repos:
        repo.session.close()
