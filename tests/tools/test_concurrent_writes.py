"""Many clients that write at once: no update is lost, and the rows are one history."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from codeplane.core.paths import RepoPath
from codeplane.ledger import Operation
from codeplane.server.pipeline import Request
from tests.drive import new_repo
from tests.tools.repo import Repo
from tests.tools.test_rows import state

WRITERS = 50
ROUNDS = 3


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[Repo]:
    files = {f"own/{n}.txt": f"end of {n}\n" for n in range(WRITERS)} | {"all.txt": "end of all\n"}
    made = Repo.at(new_repo(tmp_path / "repo", files), tmp_path)
    made.session.index.refresh()
    made.session.upkeep.start(None)
    yield made
    made.session.close()


async def write(repo: Repo, writer: int) -> None:
    """Adds lines to a file of the writer's own, one that all have, or both; some makes and deletes."""
    dice = random.Random(writer)
    for n in range(ROUNDS):
        names = dice.choice([["all.txt"], [f"own/{writer}.txt"], ["all.txt", f"own/{writer}.txt"]])
        edits: list[dict[str, str]] = [
            {"path": name, "expected_content": "end of", "new_content": f"{writer}.{n}\nend of"}
            for name in names
        ]
        passing = f"passing/{writer}.txt"
        if n == 0:
            edits.append({"path": passing, "action": "create", "new_content": "x\n"})
        elif n == 1:
            edits.append({"path": passing, "action": "delete"})
        asked: dict[str, Any] = {"write_source": {"edits": edits}}
        if writer % 10 == 0:
            asked["git_branch"] = {"action": "create", "name": f"b{writer}.{n}"}
        for tool, arguments in asked.items():
            answer = await repo.pipeline.call(Request(tool, arguments, f"client {writer}"))
            assert not answer.is_error, answer.body


def test_fifty_clients_leave_one_history(repo: Repo) -> None:
    was = state(repo.root)

    async def all_at_once() -> None:
        async with anyio.create_task_group() as group:
            for writer in range(WRITERS):
                group.start_soon(write, repo, writer)

    anyio.run(all_at_once)
    rows = repo.session.ledger.operations(limit=1000)[::-1]
    assert len(rows) == WRITERS * ROUNDS + 5 * ROUNDS and all(row.success for row in rows)
    assert repo.session.ledger.verify() == []
    # The state after each row is the state before the next one.
    assert [row.repo_before for row in rows] == [was, *(row.repo_after for row in rows[:-1])]
    assert rows[-1].repo_after == state(repo.root)
    for name in [RepoPath("all.txt"), *(RepoPath(f"own/{n}.txt") for n in range(WRITERS))]:
        _check_file(repo, name, rows)
    assert not (repo.root / "passing").exists()


def _check_file(repo: Repo, name: RepoPath, rows: list[Operation]) -> None:
    """Each change was made on what the one before it had left, and every line is there."""
    changes = [one for row in rows for one in row.changes if one.path == name]
    assert [one.before for one in changes[1:]] == [one.after for one in changes[:-1]]
    assert len((repo.root / name).read_text().splitlines()) == len(changes) + 1
