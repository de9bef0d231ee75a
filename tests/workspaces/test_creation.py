"""Workspaces are made one at a time, whoever else is at work in the repository, and none is made twice."""

import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from codeplane.core.errors import InvalidArgument
from codeplane.server.pipeline import Pipeline, Request
from codeplane.session import RepoSession
from codeplane.session.workspaces.registry import workspaces_of
from codeplane.tools import all_tools
from codeplane.workspaces import parse_workspace_id
from codeplane.workspaces.environment import port_offset, variables
from tests.drive import git
from tests.workspaces.campaign import repository


def call(session: RepoSession, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = anyio.run(Pipeline(session, all_tools()).call, Request(tool, arguments, "test"))
    return dict(answer.body)


def test_many_agents_make_workspaces_at_once(tmp_path: Path) -> None:
    with repository(tmp_path) as session:
        pipeline = Pipeline(session, all_tools())
        bodies = []

        async def create(name: str) -> None:
            answer = await pipeline.call(Request("workspace_create", {"workspace": name}, f"agent of {name}"))
            bodies.append(answer.body)

        async def everybody() -> None:
            async with anyio.create_task_group() as group:
                for number in range(6):
                    group.start_soon(create, f"w{number % 3}")

        anyio.run(everybody)
        results = [body["result"] for body in bodies]
        assert sorted(one["workspace_id"] for one in results) == ["w0", "w0", "w1", "w1", "w2", "w2"]
        assert sum(one.get("already_existed", False) for one in results) == 3
        assert len({one["port_offset"] for one in results}) == 3


def test_a_lock_on_the_configuration_does_not_stand_in_the_way(tmp_path: Path) -> None:
    with repository(tmp_path) as session:
        root = session.checkout.root
        (root / ".git" / "config.lock").touch()
        assert call(session, "workspace_create", workspace="one")["result"]["branch"] == "one"
        assert call(session, "workspace_delete", workspace="one")["result"]["deleted"]
        (root / ".git" / "config.lock").unlink()
        assert not root.with_name("repo.worktrees").joinpath("one").exists()


def test_what_is_needed_and_ignored_is_named_and_not_copied(tmp_path: Path) -> None:
    with repository(tmp_path) as session:
        root = session.checkout.root
        (root / ".gitignore").write_text(".env\nnode_modules/\n")
        git(root, "add", ".gitignore")
        git(root, "commit", "-qm", "Ignore")
        (root / ".env").write_text("SECRET=hush\n")
        (root / "node_modules").mkdir()
        result = call(session, "workspace_create", workspace="one")["result"]
        assert result["left_out"] == ["ignored by git and not copied: .env, node_modules"]
        assert "hush" not in str(result)
        assert sorted(os.listdir(result["path"])) == sorted(
            [".git", ".gitignore", *(f"module_{n}.py" for n in range(8))]
        )


def test_a_workspace_is_the_same_after_a_restart_and_a_rebuild(tmp_path: Path) -> None:
    with repository(tmp_path) as session:
        call(session, "workspace_create", workspace="one")
        edit = {"path": "module_0.py", "old_content": "original_0():", "new_content": "renamed_0():"}
        assert call(session, "write_source", workspace="one", **edit)["result"]["applied"]
        [before] = call(session, "workspace_list")["result"]["workspaces"]
    index = session.checkout.index_file
    for name in (index.name, f"{index.name}-wal", f"{index.name}-shm"):
        index.with_name(name).unlink(missing_ok=True)
    reopened = RepoSession.open(session.checkout)
    call(reopened, "search", workspace="one", query="renamed_0")
    [after] = call(reopened, "workspace_list")["result"]["workspaces"]
    reopened.close()
    assert after["overlay_revision"] >= before["overlay_revision"] == 1
    same = ("workspace_id", "base_commit_sha", "path", "port_offset", "created_at", "modified_file_count")
    assert {key: after[key] for key in same} == {key: before[key] for key in same}


def test_a_worktree_that_git_moves_is_still_the_workspace(tmp_path: Path) -> None:
    with repository(tmp_path) as session:
        result = call(session, "workspace_create", workspace="one")["result"]
        place = Path(result["path"])
        git(session.checkout.root, "worktree", "move", str(place), str(place.with_name("elsewhere")))
        edit = {"path": "module_0.py", "old_content": "original_0():", "new_content": "renamed_0():"}
        assert call(session, "write_source", workspace="one", **edit)["result"]["applied"]
        assert "renamed_0" in place.with_name("elsewhere").joinpath("module_0.py").read_text()
        assert [one.id for one in workspaces_of(session).find_all()] == ["one"]


@pytest.mark.parametrize(
    "name",
    ["", " ", "..", "a/b", "-f", ".hidden", "a..b", "a.", "x.lock", "HEAD", "primary", "ä", "a b", "x" * 61],
)
def test_names_that_are_no_directory_and_no_branch_are_refused(name: str) -> None:
    with pytest.raises(InvalidArgument):
        parse_workspace_id(name)


def test_ports_follow_from_the_name_and_are_not_given_twice() -> None:
    first = port_offset("fix")
    assert first == port_offset("fix")
    offsets: set[int] = set()
    for number in range(400):
        offset = port_offset(f"w{number}", offsets)
        assert 0 < offset <= 10_000
        offsets.add(offset)
    assert len(offsets) == 400
    assert variables("My Shop", "Fix.2", 40)["COMPOSE_PROJECT_NAME"] == "my-shop-fix-2"
