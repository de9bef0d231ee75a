from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.recon.conftest import SHOP
from tests.tools.repo import Repo

Turn = Callable[..., dict[str, Any]]


@pytest.fixture
def shop_repo(tmp_path: Path) -> Iterator[Repo]:
    repo = Repo(tmp_path, SHOP)
    yield repo
    repo.session.close()


@pytest.fixture
def turn(shop_repo: Repo) -> Turn:
    """Takes turns through the real pipeline; gives the structured form with the text under `text`."""

    def take(verb: str, **arguments: object) -> dict[str, Any]:
        return take_turn(shop_repo, verb, arguments)

    return take


def take_turn(repo: Repo, verb: str, arguments: Mapping[str, object]) -> dict[str, Any]:
    answer = repo.ask("controller_turn", verb=verb, **arguments)
    assert "result" in answer.body, answer.body
    return {**answer.body["result"], "text": answer.text}
