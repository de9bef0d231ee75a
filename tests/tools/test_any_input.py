"""Whatever a tool is asked, the answer is one of its own or an error that says what was wrong."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeplane.config import Places
from codeplane.server.answer import Answer
from codeplane.server.pipeline import Pipeline, Request
from codeplane.session import Checkout, RepoSession
from codeplane.tools import all_tools
from codeplane.tools._schema import lean_schema
from tests.drive import git, new_repo, user_env
from tests.tools.inputs import allowed, refused

MOST_CHARACTERS = 120_000
FILES = {
    "README.md": "# Demo\n\nRuns `helper`.\n",
    "app.py": "from lib.util import Base, helper\n\n\n"
    "class App(Base):\n    def run(self):\n        return helper(1)\n",
    "lib/__init__.py": "",
    "lib/util.py": "class Base:\n    def run(self):\n        return 0\n\n\ndef helper(x):\n    return x\n",
    "lib/broken.py": "def f(:\n  (((\n",
    "tests/test_app.py": "from app import App\n\n\ndef test_run():\n    assert App().run() == 1\n",
    "web/index.ts": "export function start(n: number): number {\n  return n + 1;\n}\n",
}
COMMON: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
}


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pipeline]:
    base = tmp_path_factory.mktemp("any")
    repo = new_repo(base / "repo", FILES)
    (repo / "app.py").write_text(FILES["app.py"] + "\n\ndef more():\n    return App().run()\n")
    git(repo, "commit", "-qam", "more")
    (repo / Path("lib/util.py")).write_text(FILES["lib/util.py"].replace("return x", "return x + 1"))
    places = Places.of_user(user_env(base / "home"))
    session = RepoSession.open(Checkout.find(repo, places, []))
    yield Pipeline(session, all_tools())
    session.close()


def ask(pipeline: Pipeline, tool: str, arguments: object) -> Answer:
    return anyio.run(pipeline.call, Request(tool, arguments, "a client"))


def check(answer: Answer) -> None:
    text = answer.text
    assert len(text) < MOST_CHARACTERS
    if answer.is_error:
        error = answer.body["error"]
        assert error["name"] != "INTERNAL_ERROR", error
        assert error["code"] and error["message"]


@pytest.mark.parametrize("tool", list(all_tools()))
@settings(max_examples=40, **COMMON)
@given(data=st.data())
def test_what_the_schema_allows_is_answered(pipeline: Pipeline, tool: str, data: st.DataObject) -> None:
    check(ask(pipeline, tool, data.draw(allowed(lean_schema(all_tools()[tool].input, whole=True)))))


@pytest.mark.parametrize("tool", list(all_tools()))
@settings(max_examples=40, **COMMON)
@given(data=st.data())
def test_what_it_does_not_allow_is_explained(pipeline: Pipeline, tool: str, data: st.DataObject) -> None:
    check(ask(pipeline, tool, data.draw(refused(lean_schema(all_tools()[tool].input, whole=True)))))


@pytest.mark.soak
@pytest.mark.parametrize("tool", list(all_tools()))
@settings(max_examples=1000, **COMMON)
@given(data=st.data())
def test_a_thousand_inputs(pipeline: Pipeline, tool: str, data: st.DataObject) -> None:
    schema = lean_schema(all_tools()[tool].input, whole=True)
    check(ask(pipeline, tool, data.draw(allowed(schema) | refused(schema))))
