"""A real repository with the real pipeline, for tests of what tools answer after edits."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import anyio

from codeplane.config import Places
from codeplane.server.answer import Answer
from codeplane.server.pipeline import Pipeline, Request
from codeplane.session import Checkout, RepoSession
from codeplane.session.trust import give_trust
from codeplane.tools import all_tools
from tests.drive import new_repo, user_env


class Repo:
    def __init__(self, base: Path, files: Mapping[str, str]) -> None:
        self._open(new_repo(base / "repo", files), base)

    @classmethod
    def at(cls, root: Path, base: Path) -> Self:
        """A repository that is there already; `base` has the user's home."""
        made = cls.__new__(cls)
        made._open(root, base)
        return made

    def _open(self, root: Path, base: Path) -> None:
        self.root = root
        places = Places.of_user(user_env(base / "home"))
        self.session = RepoSession.open(Checkout.find(self.root, places))
        self.pipeline = Pipeline(self.session, all_tools())

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def ask(self, tool: str, **arguments: object) -> Answer:
        return anyio.run(self.pipeline.call, Request(tool, arguments, "a client"))

    def result(self, tool: str, **arguments: object) -> dict[str, Any]:
        answer = self.ask(tool, **arguments)
        assert not answer.is_error, answer.body
        result: dict[str, Any] = answer.body["result"]
        return result

    def error(self, tool: str, **arguments: object) -> dict[str, Any]:
        answer = self.ask(tool, **arguments)
        assert answer.is_error, answer.body
        error: dict[str, Any] = answer.body["error"]
        return error


def trust(root: Path, base: Path) -> None:
    """Has the user whose home is in `base` trust a checkout; sessions that are opened later know it."""
    places = Places.of_user(user_env(base / "home"))
    give_trust(root, places)
