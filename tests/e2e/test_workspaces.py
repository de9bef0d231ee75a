"""Workspaces from outside: one server for a repository and its worktrees, and servers side by side."""

from pathlib import Path

import pytest

from tests.drive import Cpl, git

WRITE = {"path": "README.md", "old_content": "hello", "new_content": "from the workspace"}


def beside(cpl: Cpl, name: str) -> Path:
    return cpl.repo.with_name(f"{cpl.repo.name}.worktrees") / name


def in_worktree(cpl: Cpl, root: Path) -> Cpl:
    return Cpl(root, cpl.env, cpl.program)


def texts(cpl: Cpl, name: str) -> tuple[str, str]:
    """The file in the primary checkout and in the worktree."""
    return (cpl.repo / "README.md").read_text(), (beside(cpl, name) / "README.md").read_text()


def test_a_session_that_is_bound_to_a_workspace_reads_and_writes_there_alone(cpl: Cpl) -> None:
    git(cpl.repo, "config", "user.name", "Ada")
    git(cpl.repo, "config", "user.email", "ada@example.org")
    assert cpl.run("workspace", "create", "fix").returncode == 0
    with cpl.mcp("--workspace", "fix", "--profile", "full") as client:
        client.open()
        assert client.call("write_source", WRITE)["result"]["applied"]
        assert texts(cpl, "fix") == ("hello\n", "from the workspace\n")
        client.call("git_stage_and_commit", {"message": "Change it", "paths": ["README.md"]})
        assert git(cpl.repo, "log", "-1", "--format=%s", "fix") == "Change it"
        assert git(cpl.repo, "log", "-1", "--format=%s", "main") == "start"
        assert client.call("describe")["result"]["branch"] == "fix"
        other = client.call("read_source", {"targets": ["README.md"], "workspace": "elsewhere"})
        assert other["error"]["name"] == "INVALID_ARGUMENT"


def test_a_workspace_that_is_not_there_can_not_be_worked_in(cpl: Cpl) -> None:
    failure = cpl.run("mcp", "--workspace", "none")
    assert failure.returncode == 1
    assert "There is no workspace 'none'" in failure.stderr


def test_a_worktree_made_by_git_is_served_by_the_server_that_runs(cpl: Cpl) -> None:
    with cpl.mcp("--profile", "full") as client:
        client.open().call("describe")
        git(cpl.repo, "worktree", "add", "-q", "-b", "odd", str(beside(cpl, "odd")))
        worktree = in_worktree(cpl, beside(cpl, "odd"))
        with worktree.mcp("--profile", "full") as second:
            assert second.open().call("write_source", WRITE)["result"]["applied"]
            assert texts(cpl, "odd") == ("hello\n", "from the workspace\n")
            assert (
                worktree.run("call", "read_source", '{"targets": ["README.md"]}').stdout.count("workspace")
                == 1
            )
            assert "hello" in cpl.run("call", "read_source", '{"targets": ["README.md"]}').stdout
            assert not (beside(cpl, "odd") / ".codeplane" / "server.json").exists()
        listing = client.call("workspace_list")["result"]["workspaces"]
        assert [(one["workspace_id"], one["modified_file_count"]) for one in listing] == [("odd", 1)]


def test_a_client_in_a_worktree_goes_on_when_the_server_ends(cpl: Cpl) -> None:
    assert cpl.run("workspace", "create", "fix").returncode == 0
    with cpl.mcp("--profile", "full") as first:
        first.open().call("describe")
        with in_worktree(cpl, beside(cpl, "fix")).mcp("--profile", "full") as second:
            second.open().call("describe")
            first.process.kill()
            first.process.wait()
            assert second.call("write_source", WRITE)["result"]["applied"]
            assert texts(cpl, "fix") == ("hello\n", "from the workspace\n")


def test_calls_go_to_the_server_that_has_the_workspace(cpl: Cpl) -> None:
    assert cpl.run("workspace", "create", "fix").returncode == 0
    with in_worktree(cpl, beside(cpl, "fix")).mcp("--profile", "full") as own:
        own.open().call("describe")
        assert (beside(cpl, "fix") / ".codeplane" / "server.json").exists()
        with cpl.mcp("--profile", "full") as client:
            client.open()
            result = client.call("write_source", {**WRITE, "workspace": "fix"})["result"]
            assert texts(cpl, "fix") == ("hello\n", "from the workspace\n")
            # The undo of this session's last edit needs the session to be the same one there.
            assert client.call("undo", {"workspace": "fix"})["result"]["summary"]
            assert texts(cpl, "fix") == ("hello\n", "hello\n")
            assert result["operation"] in in_worktree(cpl, beside(cpl, "fix")).run("log").stdout


def test_workspaces_are_made_listed_and_removed_by_people(cpl: Cpl) -> None:
    assert cpl.run("workspace", "create", "one").returncode == 0
    assert cpl.run("workspace", "create", "two", "--branch", "second").returncode == 0
    names = [one["workspace_id"] for one in cpl.json("workspace", "list")["result"]["workspaces"]]
    assert names == ["one", "two"]
    (beside(cpl, "one") / "new.txt").write_text("unsaved\n")
    refusal = cpl.run("workspace", "delete", "one")
    assert refusal.returncode == 1
    assert "new.txt" in refusal.stdout
    assert cpl.run("workspace", "delete", "one", "--force").returncode == 0
    assert not beside(cpl, "one").exists()
    assert cpl.run("workspace", "reset", "two").returncode == 0
    assert cpl.run("workspace", "list", "two").returncode == 2


def test_what_is_left_of_a_worktree_that_was_removed_by_hand_is_forgotten(cpl: Cpl) -> None:
    assert cpl.run("workspace", "create", "gone").returncode == 0
    cpl.run("call", "search", '{"query": "hello", "workspace": "gone"}')
    git(cpl.repo, "worktree", "remove", "--force", str(beside(cpl, "gone")))
    assert "gone" in cpl.run("workspace", "list").stdout
    pruned = cpl.run("workspace", "prune").stdout
    assert "dropped the index of gone" in pruned
    assert cpl.run("workspace", "list").stdout == "no workspaces\n"
    assert git(cpl.repo, "branch", "--list", "gone") == ""


@pytest.mark.parametrize("flags", [["--root"], []])
def test_trust_of_the_primary_checkout_covers_its_worktrees(cpl: Cpl, flags: list[str]) -> None:
    assert cpl.run("workspace", "create", "fix").returncode == 0
    worktree = in_worktree(cpl, beside(cpl, "fix"))
    where = [*flags, str(beside(cpl, "fix"))] if flags else []
    run_in = cpl if flags else worktree
    assert run_in.json("status", *where)["trusted"] is False
    assert cpl.run("trust").returncode == 0
    assert run_in.json("status", *where)["trusted"] is True
    assert cpl.run("trust", "--revoke").returncode == 0
    assert run_in.json("status", *where)["trusted"] is False
