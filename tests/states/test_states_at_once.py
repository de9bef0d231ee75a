"""Calls about several states at once: each is answered as if it were alone."""

from pathlib import Path
from typing import Any

import anyio

from codeplane.server.pipeline import Request
from tests.drive import git
from tests.states.questions import QUESTIONS, essence
from tests.states.test_states import CONTENTS, FILES, change, commit
from tests.tools.repo import Repo

STATES: tuple[dict[str, Any], ...] = (
    {},
    {"commit": "v1"},
    {"workspace": "m"},
    {"virtual_files": {"lib/util.py": CONTENTS[5]}},
    {"virtual_files": {"lib/util.py": CONTENTS[2], "new.py": CONTENTS[3]}},
    {"virtual_files": {"app.py": None}, "commit": "v1"},
)


async def _ask_all(repo: Repo, number: int, results: dict[int, list[object]]) -> None:
    """From another question on for each state, so that they meet."""
    start = number * len(QUESTIONS) // len(STATES)
    for tool, arguments in (*QUESTIONS[start:], *QUESTIONS[:start]):
        request = Request(tool, {**arguments, **STATES[number]}, f"client {number}")
        answer = await repo.pipeline.call(request)
        results.setdefault(number, []).append((tool, essence(answer)))


async def _together(repo: Repo) -> dict[int, list[object]]:
    results: dict[int, list[object]] = {}
    async with anyio.create_task_group() as group:
        for number in range(len(STATES)):
            group.start_soon(_ask_all, repo, number, results)
    return results


async def _one_by_one(repo: Repo) -> dict[int, list[object]]:
    results: dict[int, list[object]] = {}
    for number in range(len(STATES)):
        await _ask_all(repo, number, results)
    return results


def test_states_at_once_are_answered_as_one_by_one(tmp_path: Path) -> None:
    repo = Repo(tmp_path, FILES)
    git(repo.root, "tag", "v1")
    change(repo.root, {"later.py": CONTENTS[4]})
    commit(repo.root)
    change(repo.root, {"lib/util.py": CONTENTS[2]})
    repo.result("workspace_create", workspace="m", kind="memory", base="v1")
    edits = [{"path": "lib/util.py", "expected_content": "return 0", "new_content": "return 9"}]
    repo.result("write_source", edits=edits, workspace="m")
    together = anyio.run(_together, repo)
    alone = anyio.run(_one_by_one, repo)
    for number, state in enumerate(STATES):
        assert together[number] == alone[number], state
    repo.session.close()
