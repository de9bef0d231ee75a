"""Runs every text case of `tests/cases/tools` against the real pipeline in a real repository."""

import json
import re
from pathlib import Path

import anyio
import pytest

from codeplane.config import Places
from codeplane.server.pipeline import Pipeline, Request
from codeplane.session import Checkout, RepoSession
from codeplane.tools import all_tools
from tests.case_files import Case, Step, parse_case, show, stable
from tests.drive import git, new_repo, user_env

_ID = re.compile(r"\b(task|cur|op|ref|plan|ph|pt|ps)_[0-9a-f]{12}\b")
_NAMED = re.compile(r"\b(task|cur|op|ref|plan|ph|pt|ps)_\\u2026")
CASES = sorted((Path(__file__).parent / "cases" / "tools").glob("*.txt"))


@pytest.mark.parametrize("file", CASES, ids=lambda file: file.stem)
def test_case(file: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    expected = parse_case(file.read_text())
    seen = run_case(expected, tmp_path)
    if request.config.getoption("--update"):
        file.write_text(seen.render())
    assert seen.render() == expected.render()


def run_case(case: Case, tmp_path: Path) -> Case:
    repo = new_repo(tmp_path / "repo", case.files or None)
    for part, value in (("name", "Ada"), ("email", "ada@example.org")):
        git(repo, "config", f"user.{part}", value)
    checkout = Checkout.find(repo, Places.of_user(user_env(tmp_path / "home")))
    session = RepoSession.open(checkout)
    session.index.refresh()
    pipeline = Pipeline(session, all_tools())
    ids: dict[str, str] = {}
    steps = [anyio.run(_step, pipeline, step, repo, ids) for step in case.steps]
    session.close()
    return Case(case.about, case.files, steps)


async def _step(pipeline: Pipeline, step: Step, repo: Path, ids: dict[str, str]) -> Step:
    """One call; `op_…` and the like in its arguments stand for the last such id that an answer had."""
    arguments = json.loads(_NAMED.sub(lambda found: ids.get(found[1], found[0]), json.dumps(step.arguments)))
    answer = await pipeline.call(Request(step.tool, arguments, session_key="case"))
    ids.update({found[1]: found[0] for found in _ID.finditer(json.dumps(answer.body.get("result", {})))})
    text = stable(answer.text, repo) if step.text is not None else None
    return Step(step.tool, step.arguments, show(dict(answer.body), repo), answer.is_error, text)
