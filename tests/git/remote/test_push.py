"""Pushing to real remotes through the tools."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.drive import git
from tests.git.servers import PASSWORD, USER, git_daemon, http_server, new_bare, redirecting_server
from tests.tools.repo import Repo, trust


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[Repo]:
    made = Repo(tmp_path, {"app.py": "one = 1\n"})
    new_bare(tmp_path / "served" / "app.git")
    yield made
    made.session.close()


@pytest.fixture
def bare(repo: Repo, tmp_path: Path) -> Path:
    """A remote `origin` in a directory."""
    git(repo.root, "remote", "add", "origin", f"file://{tmp_path}/served/app.git")
    return tmp_path / "served" / "app.git"


def commit(root: Path, text: str) -> str:
    (root / "app.py").write_text(text)
    git(root, "commit", "-qam", text)
    return git(root, "rev-parse", "HEAD")


def branches(bare: Path) -> list[str]:
    return git(bare, "branch", "--format=%(refname:short)").split()


def somebody_pushes(bare: Path, text: str = "theirs = 1\n") -> str:
    other = bare.parent.parent / f"other-{abs(hash(text))}"
    git(bare.parent, "clone", "-q", str(bare), str(other))
    made = commit(other, text)
    git(other, "push", "-q")
    return made


def test_a_new_branch_is_pushed_followed_and_tracked(repo: Repo, bare: Path) -> None:
    told = repo.result("git_push", dry_run=True)
    assert told["summary"] == "would push main (new) to origin" and "operation" not in told
    assert branches(bare) == [] and "origin/main" not in git(repo.root, "branch", "-a")
    told = repo.result("git_push", set_upstream=True)
    head = git(repo.root, "rev-parse", "HEAD")
    assert told["refs"] == [{"ref": "refs/heads/main", "move": "new", "after": head[:10]}]
    assert git(bare, "rev-parse", "main") == head == git(repo.root, "rev-parse", "origin/main")
    assert git(repo.root, "rev-parse", "--abbrev-ref", "@{upstream}") == "origin/main"
    assert "update by push" in git(repo.root, "reflog", "origin/main")
    assert repo.result("git_push")["summary"] == "origin is already up to date"
    git(repo.root, "fsck"), git(bare, "fsck")


def test_what_would_lose_commits_is_refused_with_how_many(repo: Repo, bare: Path) -> None:
    git(repo.root, "push", "-qu", "origin", "main")
    theirs = somebody_pushes(bare)
    commit(repo.root, "two = 2\n")
    refused = repo.error("git_push")
    assert (refused["name"], refused["message"]) == (
        "REMOTE_REFUSED",
        "main of origin has commits that are not here.",
    )
    git(repo.root, "fetch", "-q")
    assert "1 commits that would be lost; 1 would be pushed" in repo.error("git_push")["message"]
    assert git(bare, "rev-parse", "main") == theirs


def test_a_lease_holds_only_while_nobody_has_pushed(repo: Repo, bare: Path) -> None:
    git(repo.root, "push", "-qu", "origin", "main")
    git(repo.root, "commit", "-q", "--amend", "-m", "again")
    theirs = somebody_pushes(bare)
    assert "somebody has pushed in the meantime" in repo.error("git_push", force="with_lease")["message"]
    assert git(bare, "rev-parse", "main") == theirs
    git(repo.root, "fetch", "-q")
    repo.result("git_push", force="with_lease")
    assert git(bare, "rev-parse", "main") == git(repo.root, "rev-parse", "HEAD")


def test_tags_go_with_the_branch_or_alone_and_are_never_replaced_silently(repo: Repo, bare: Path) -> None:
    git(repo.root, "tag", "-a", "-m", "first", "v1")
    git(repo.root, "tag", "v2")
    assert [one["ref"] for one in repo.result("git_push", tags=["v1"])["refs"]] == ["refs/tags/v1"]
    moved = repo.result("git_push", tags=True)["refs"]
    assert [one["ref"] for one in moved] == ["refs/heads/main", "refs/tags/v2"]
    commit(repo.root, "two = 2\n")
    git(repo.root, "tag", "-f", "v2")
    assert "already exists and differs" in repo.error("git_push", tags=["v2"])["message"]
    repo.result("git_push", tags=["v2"], force=True)
    assert git(bare, "tag").split() == ["v1", "v2"]


def test_a_branch_is_deleted_there_and_its_tracking_reference_here(repo: Repo, bare: Path) -> None:
    git(repo.root, "push", "-q", "origin", "main", "main:other")
    git(repo.root, "push", "-q", "origin", "main:refs/tags/v1")
    repo.result("git_push", branch="other", tags=["v1"], delete=True)
    assert git(bare, "tag") == "" and branches(bare) == ["main"]
    assert "origin/other" not in git(repo.root, "branch", "-a")
    assert repo.error("git_push", branch="other", delete=True)["message"] == "There is no other of origin."


def test_a_branch_that_follows_another_is_not_guessed_about(repo: Repo, bare: Path) -> None:
    git(repo.root, "push", "-qu", "origin", "main")
    git(repo.root, "switch", "-qc", "topic", "--track", "origin/main")
    hints = repo.error("git_push")["hints"]
    assert hints == [
        f'git_push {{"remote": "origin", "branch": "topic", "to": "{to}"}}' for to in ("main", "topic")
    ]
    repo.result("git_push", **json.loads(hints[1].removeprefix("git_push ")))
    assert branches(bare) == ["main", "topic"]


def test_what_a_hook_of_the_remote_refuses_is_told(repo: Repo, tmp_path: Path) -> None:
    bare = tmp_path / "served" / "app.git"
    hook = bare / "hooks" / "update"
    hook.write_text("#!/bin/sh\necho no entry today\nexit 1\n")
    hook.chmod(0o755)
    with git_daemon(tmp_path / "served") as url:
        git(repo.root, "remote", "add", "origin", f"{url}/app.git")
        refused = repo.error("git_push")
        assert refused["name"] == "REMOTE_REFUSED" and "hook declined" in refused["message"]
        assert "origin/main" not in git(repo.root, "branch", "-a")
        hook.unlink()
        repo.result("git_push")
    assert git(bare, "rev-parse", "main") == git(repo.root, "rev-parse", "origin/main")


def helper(home: Path, repo: Repo, password: str = PASSWORD) -> Path:
    """A credential helper of the user that notes what it is told; the global configuration names it."""
    log = home / "helper.log"
    script = home / "helper.sh"
    script.write_text(
        f'#!/bin/sh\necho "$1" >> {log}\ncat > /dev/null\n'
        f'[ "$1" = get ] && printf "username={USER}\\npassword={password}\\n"\n'
    )
    script.chmod(0o755)
    (home / "config").write_text(f"[credential]\n\thelper = {script}\n")
    env = repo.session.checkout.programs.env
    assert isinstance(env, dict)
    env["GIT_CONFIG_GLOBAL"] = str(home / "config")
    return log


def test_the_users_helper_is_asked_once_and_told_how_it_went(repo: Repo, tmp_path: Path) -> None:
    log = helper(tmp_path / "home", repo)
    with http_server(tmp_path / "served") as (url, _):
        git(repo.root, "remote", "add", "origin", f"{url}/app.git")
        told = repo.ask("git_push", set_upstream=True)
    assert not told.is_error and PASSWORD not in str(told.body)
    assert git(tmp_path / "served" / "app.git", "rev-parse", "main") == git(repo.root, "rev-parse", "HEAD")
    assert log.read_text().split() == ["get", "store"]


def test_nobody_is_asked_and_a_wrong_password_is_offered_once_and_forgotten(
    repo: Repo, tmp_path: Path
) -> None:
    with http_server(tmp_path / "served") as (url, seen):
        git(repo.root, "remote", "add", "origin", f"{url}/app.git")
        assert repo.error("git_push")["name"] == "CREDENTIALS_REFUSED"
        log = helper(tmp_path / "home", repo, "wrong-pass")
        refused = repo.error("git_push")
    assert refused["name"] == "CREDENTIALS_REFUSED" and "wrong-pass" not in str(refused)
    assert log.read_text().split() == ["get", "erase"]
    assert len([one for one in seen if one]) == 1


def test_a_password_in_the_address_is_used_and_never_shown(repo: Repo, tmp_path: Path) -> None:
    with http_server(tmp_path / "served") as (url, _):
        address = url.replace("://", f"://{USER}:{PASSWORD}@")
        repo.result("git_remote", action="add", name="origin", url=f"{address}/app.git")
        told = [repo.ask("git_remote").body, repo.ask("git_push").body]
        git(tmp_path / "served" / "app.git", "config", "http.receivepack", "false")
        commit(repo.root, "two = 2\n")
        told.append(repo.ask("git_push").body)
    assert PASSWORD not in str(told) and "error" in told[-1]
    kept = subprocess.run(
        ["grep", "-rl", PASSWORD, str(repo.root / ".codeplane")], capture_output=True, text=True
    )
    assert kept.stdout == ""


def test_credentials_do_not_follow_a_redirection_to_another_host(repo: Repo, tmp_path: Path) -> None:
    helper(tmp_path / "home", repo)
    with http_server(tmp_path / "served") as (url, seen):
        with redirecting_server(url.replace("127.0.0.1", "127.0.0.2")) as first:
            git(repo.root, "remote", "add", "origin", f"{first}/app.git")
            refused = repo.error("git_push")
    assert refused["name"] == "REMOTE_REFUSED" and "redirect" in refused["message"]
    assert seen == [""]


def test_a_trusted_repository_has_its_hook_and_its_addresses_obeyed(repo: Repo, tmp_path: Path) -> None:
    bare = tmp_path / "served" / "app.git"
    hook = repo.root / ".git/hooks/pre-push"
    hook.write_text(f'#!/bin/sh\necho "$1 $2" > {tmp_path}/told\ncat >> {tmp_path}/told\nexit 1\n')
    hook.chmod(0o755)
    git(repo.root, "remote", "add", "origin", "https://example.org/app.git")
    git(repo.root, "config", f"url.file://{bare.parent}/.insteadOf", "https://example.org/")
    repo.session.close()
    trust(repo.root, tmp_path)
    trusted = Repo.at(repo.root, tmp_path)
    assert trusted.error("git_push")["name"] == "HOOK_REFUSED"
    head = git(repo.root, "rev-parse", "HEAD")
    first, line = (tmp_path / "told").read_text().splitlines()
    assert first == "origin https://example.org/app.git" and branches(bare) == []
    assert line == f"refs/heads/main {head} refs/heads/main {'0' * 40}"
    hook.write_text("#!/bin/sh\nexit 0\n")
    trusted.result("git_push")
    assert git(bare, "rev-parse", "main") == head
    trusted.session.close()
