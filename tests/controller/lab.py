"""Controlled runs on a real repository, driven through the real pipeline."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio

from codeplane.config import Places
from codeplane.controller.contract import RunState
from codeplane.controller.runs import Run, run_store
from codeplane.server.pipeline import Pipeline, Request
from codeplane.session import Checkout, RepoSession
from codeplane.tools import all_tools
from tests.drive import new_repo, user_env

APP = {
    "pager.py": '''"""Pages of a list."""


def page_count(total: int, size: int) -> int:
    return total // size


def page(items: list[int], number: int, size: int) -> list[int]:
    start = number * size
    return items[start : start + size]
''',
    "report.py": """from pager import page_count


def summary(total: int) -> str:
    return f"{page_count(total, 10)} pages"
""",
    "tests/test_pager.py": """from pager import page, page_count


def test_page_count():
    assert page_count(20, 10) == 2


def test_page():
    assert page([1, 2, 3], 1, 2) == [3]
""",
    "pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['.']\n",
    "AGENTS.md": "# Rules\n\nEvery function has a test.\n",
    "README.md": "# Pager\n",
}


class Answered:
    """The answer of one turn: the structured form, and the text."""

    def __init__(self, body: Mapping[str, Any], text: str) -> None:
        self.body, self.text = body, text

    @property
    def result(self) -> dict[str, Any]:
        """The answer of the tool."""
        assert "result" in self.body, self.body
        return dict(self.body["result"])

    @property
    def codes(self) -> list[str]:
        return list(self.result["denyReasons"])

    @property
    def sub_codes(self) -> list[str]:
        return [problem["subCode"] for problem in self.result["result"].get("problems", ())]

    @property
    def state(self) -> str:
        return str(self.result["state"])

    @property
    def suggestion(self) -> dict[str, Any]:
        """The suggested call as it is sent."""
        action = self.result["suggestedAction"]
        return {"verb": action["verb"], **(action.get("args") or {})}

    @property
    def next_call(self) -> dict[str, Any] | None:
        action = self.result.get("nextAction")
        return None if action is None else {"verb": action["verb"], **(action.get("args") or {})}


class Desk:
    """One repository with the controller on it."""

    def __init__(self, session: RepoSession) -> None:
        self.session = session
        self.root = session.checkout.root
        self._pipeline = Pipeline(session, all_tools())

    def turn(self, verb: str, client: str = "agent", **arguments: Any) -> Answered:
        return self.send({"verb": verb, **arguments}, client)

    def send(self, call: Mapping[str, Any], client: str = "agent") -> Answered:
        """Sends a call as it is, after a journey through JSON."""
        arguments = json.loads(json.dumps(call))
        answer = anyio.run(self._pipeline.call, Request("controller_turn", arguments, client))
        return Answered(answer.body, answer.text)

    def run_of(self, work_id: str) -> Run:
        run = run_store(self.session).load(work_id)
        assert run is not None
        return run

    def put_in(self, work_id: str, state: RunState) -> None:
        """Brings a run into a state, as if turns had led there."""
        store = run_store(self.session)
        run = store.load(work_id) or Run(work_id, "sess", "agent")
        run.state = state
        store.save(run)


@contextmanager
def open_desk(tmp_path: Path, files: Mapping[str, str] = APP, **settings: Any) -> Iterator[Desk]:
    """A desk on a new repository of these files; settings are given as `--set` would give them."""
    root = tmp_path / "repo"
    if not root.exists():
        new_repo(root, dict(files))
    assignments = [f"{key.replace('__', '.')}={json.dumps(value)}" for key, value in settings.items()]
    places = Places.of_user(user_env(tmp_path / "home"))
    session = RepoSession.open(Checkout.find(root, places, assignments))
    try:
        yield Desk(session)
    finally:
        session.close()
