"""Runs every text case of `tests/cases/tools` against the real pipeline in a real repository."""

from pathlib import Path

import anyio
import pytest

from codeplane.config import Places
from codeplane.server.pipeline import Pipeline, Request
from codeplane.session import Checkout, RepoSession
from codeplane.tools import all_tools
from tests.case_files import Case, Step, parse_case, show
from tests.drive import new_repo, user_env

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
    checkout = Checkout.find(repo, Places.of_user(user_env(tmp_path / "home")))
    session = RepoSession.open(checkout)
    session.index.refresh()
    pipeline = Pipeline(session, all_tools())
    steps = [anyio.run(_step, pipeline, step, repo) for step in case.steps]
    session.close()
    return Case(case.about, case.files, steps)


async def _step(pipeline: Pipeline, step: Step, repo: Path) -> Step:
    answer = await pipeline.call(Request(step.tool, step.arguments, session_key="case"))
    return Step(step.tool, step.arguments, show(dict(answer.body), repo), answer.is_error)
