"""Pushing and pulling over SSH, with the agent's keys and against known hosts."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.drive import git
from tests.git.remote.test_push import commit, somebody_pushes
from tests.git.servers import new_bare
from tests.git.ssh import Ssh, ssh_server
from tests.tools.repo import Repo


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Repo, Path, Ssh]]:
    made = Repo(tmp_path, {"app.py": "one = 1\n"})
    bare = new_bare(tmp_path / "served" / "app.git")
    try:
        with ssh_server(tmp_path / "sshd") as server:
            env = made.session.checkout.programs.env
            assert isinstance(env, dict)
            env["SSH_AUTH_SOCK"] = server.socket
            (Path(env["HOME"]) / ".ssh").mkdir()
            (Path(env["HOME"]) / ".ssh" / "known_hosts").write_text(server.known)
            git(made.root, "remote", "add", "origin", f"{server.url}{bare}")
            yield made, bare, server
    finally:
        made.session.close()


def test_the_agents_key_pushes_and_pulls(served: tuple[Repo, Path, Ssh]) -> None:
    repo, bare, _ = served
    repo.result("git_push", set_upstream=True)
    assert git(bare, "rev-parse", "main") == git(repo.root, "rev-parse", "HEAD")
    theirs = somebody_pushes(bare)
    assert repo.result("git_pull")["head"] == theirs[:10]
    ours = commit(repo.root, "ours = 1\n")
    repo.result("git_push")
    assert git(bare, "rev-parse", "main") == ours


def test_without_a_key_and_without_a_known_host_nothing_is_sent(served: tuple[Repo, Path, Ssh]) -> None:
    repo, bare, _ = served
    env = repo.session.checkout.programs.env
    assert isinstance(env, dict)
    known = Path(env["HOME"]) / ".ssh" / "known_hosts"
    told, agent = known.read_text(), env.pop("SSH_AUTH_SOCK")
    assert repo.ask("git_push").is_error
    env["SSH_AUTH_SOCK"] = agent
    known.write_text("")
    refused = repo.ask("git_push")
    assert refused.is_error and "known_hosts" in str(refused.body) and git(bare, "branch") == ""
    known.write_text(told)
    repo.result("git_push")
    assert git(bare, "branch", "--format=%(refname:short)") == "main"
