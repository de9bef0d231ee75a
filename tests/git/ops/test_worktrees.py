"""Linked worktrees end to end, through the tools."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.git.ops.worktrees import add_worktree, plan_target
from codeplane.process import Programs
from codeplane.storage import StateDir
from tests.drive import git
from tests.tools.repo import Repo


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[Repo]:
    made = Repo(tmp_path, {"app.py": "one = 1\n", "run.sh": "#!/bin/sh\n", ".gitignore": "*.log\n"})
    yield made
    made.session.close()


def place(repo: Repo, name: str) -> Path:
    return repo.root.with_name("repo.worktrees") / name


def test_a_worktree_is_as_git_makes_one(repo: Repo, tmp_path: Path) -> None:
    (repo.root / "run.sh").chmod(0o755)
    (repo.root / "link").symlink_to("app.py")
    git(repo.root, "add", "-A")
    git(repo.root, "commit", "-qm", "modes")
    told = repo.result("git_worktree", action="add", path="fix")
    ours, theirs = place(repo, "fix"), tmp_path / "theirs"
    assert told["path"] == str(ours) and told["status"] == "clean"
    git(repo.root, "worktree", "add", "-q", str(theirs))
    for command in (("ls-files", "-s"), ("status", "--porcelain"), ("rev-parse", "HEAD"), ("fsck",)):
        assert git(ours, *command) == git(theirs, *command)
    assert git(ours, "branch", "--show-current") == "fix"
    assert (ours / "link").is_symlink() and (ours / "run.sh").stat().st_mode & 0o111
    admin = repo.root / ".git/worktrees"
    for file in ("commondir", "gitdir"):
        assert (admin / "fix" / file).read_text().replace(str(ours), "X") == (
            admin / "theirs" / file
        ).read_text().replace(str(theirs), "X")
    assert "checkout: moving" in git(ours, "reflog")
    git(repo.root, "worktree", "remove", str(ours))


def test_a_commit_a_branch_and_a_new_branch_can_be_checked_out(repo: Repo) -> None:
    git(repo.root, "branch", "topic")
    head = git(repo.root, "rev-parse", "HEAD")
    repo.result("git_worktree", action="add", path="a", ref=head)
    repo.result("git_worktree", action="add", path="b", ref="topic")
    repo.result("git_worktree", action="add", path="deep/c", ref="topic", create="fresh")
    lines = repo.result("git_worktree")["worktrees"]
    assert [(Path(one["path"]).name, one.get("branch")) for one in lines] == [
        ("repo", "main"),
        ("a", None),
        ("b", "topic"),
        ("c", "fresh"),
    ]
    assert lines[0]["primary"] and lines[0]["here"]
    refused = repo.error("git_worktree", action="add", path="d", ref="topic")
    assert "checked out in the worktree" in refused["message"] and not place(repo, "d").exists()
    assert git(repo.root, "worktree", "list").count("\n") == 3


def test_worktrees_are_made_only_where_they_are_meant_to_be(repo: Repo, tmp_path: Path) -> None:
    place(repo, "").mkdir()
    place(repo, "out").symlink_to(tmp_path)
    for path in ("/tmp/elsewhere", "../x", "a/../../x", "-x", "", ".", "out/x"):
        assert repo.error("git_worktree", action="add", path=path)["name"] == "INVALID_ARGUMENT"
    assert not (tmp_path / "x").exists() and not (repo.root / ".git/worktrees").exists()


def test_what_is_only_in_a_worktree_is_named_and_saved_before_it_goes(repo: Repo) -> None:
    repo.result("git_worktree", action="add", path="fix")
    inner = place(repo, "fix")
    (inner / "app.py").write_text("changed = 1\n")
    (inner / "new.py").write_text("new = 1\n")
    (inner / "debug.log").write_text("ignored\n")
    refused = repo.error("git_worktree", action="remove", path="fix")
    assert refused["name"] == "WORK_AT_RISK"
    assert "app.py, new.py" in refused["message"] and "debug.log" not in refused["message"]
    saved = repo.result("git_worktree", action="remove", path="fix", force=True)["saved"]
    assert not inner.exists() and git(repo.root, "worktree", "list").count("\n") == 0
    assert git(repo.root, "show", f"{saved}:app.py") == "changed = 1"
    assert git(repo.root, "show", f"{saved}^3:new.py") == "new = 1"


def test_commits_on_no_branch_are_work_too(repo: Repo) -> None:
    repo.result("git_worktree", action="add", path="fix", ref=git(repo.root, "rev-parse", "HEAD"))
    git(place(repo, "fix"), "commit", "-q", "--allow-empty", "-m", "alone")
    alone = git(place(repo, "fix"), "rev-parse", "HEAD")
    assert "commits on no branch" in repo.error("git_worktree", action="remove", path="fix")["message"]
    saved = repo.result("git_worktree", action="remove", path="fix", force=True)["saved"]
    assert git(repo.root, "rev-parse", saved) == alone


def test_a_locked_worktree_stays(repo: Repo) -> None:
    repo.result("git_worktree", action="add", path="fix")
    repo.result("git_worktree", action="lock", path="fix", reason="on a stick")
    assert repo.result("git_worktree")["worktrees"][1]["locked"] == "on a stick"
    assert "on a stick" in repo.error("git_worktree", action="remove", path="fix", force=True)["message"]
    git(repo.root, "worktree", "unlock", str(place(repo, "fix")))
    assert "not locked" in repo.error("git_worktree", action="unlock", path="fix")["message"]
    repo.result("git_worktree", action="remove", path="fix")


def test_only_what_is_gone_is_forgotten(repo: Repo) -> None:
    repo.result("git_worktree", action="add", path="a")
    repo.result("git_worktree", action="add", path="b")
    place(repo, "a").rename(repo.root.with_name("moved"))
    assert repo.result("git_worktree")["worktrees"][1]["gone"]
    assert "pruned 1" in repo.result("git_worktree", action="prune")["summary"]
    assert [Path(one["path"]).name for one in repo.result("git_worktree")["worktrees"]] == ["repo", "b"]


def test_a_planted_entry_leads_to_nothing_that_is_deleted(repo: Repo, tmp_path: Path) -> None:
    """An entry may name any directory; only one that points back is a worktree of this repository."""
    victim = place(repo, "victim")
    git(tmp_path, "init", "-q", str(victim))
    (victim / "precious").write_text("1")
    admin = repo.root / ".git/worktrees/victim"
    admin.mkdir(parents=True)
    (admin / "gitdir").write_text(f"{victim}/.git\n")
    (admin / "HEAD").write_text("ref: refs/heads/main\n")
    (admin / "commondir").write_text("../..\n")
    repo.result("git_worktree", action="remove", path="victim", force=True)
    assert (victim / "precious").read_text() == "1"


def test_an_agent_in_a_worktree_is_told_and_cannot_touch_the_primary_checkout(
    repo: Repo, tmp_path: Path
) -> None:
    repo.result("git_worktree", action="add", path="fix")
    before = {path: path.read_bytes() for path in repo.root.glob("*") if path.is_file()}
    inner = Repo.at(place(repo, "fix"), tmp_path)
    try:
        told = inner.result("git_worktree")
        assert str(repo.root) in told["where"] and told["worktrees"][1]["here"]
        assert "main checkout" in inner.result("git_status")["where"]
        assert "where" not in repo.result("git_status")
        for path in (f"{repo.root}/app.py", "../../repo/app.py"):
            edit = {"path": path, "action": "create", "new_content": "bad\n"}
            assert inner.ask("write_source", edits=[edit]).is_error
        assert "checked out in" in inner.error("git_checkout", ref="main")["message"]
        assert inner.error("git_worktree", action="remove", path=str(repo.root))["name"] == "NOT_FOUND"
        assert "runs in that worktree" in inner.error("git_worktree", action="remove", path="fix")["message"]
        head = git(repo.root, "rev-parse", "HEAD")
        git(inner.root, "commit", "-q", "--allow-empty", "-m", "here")
        inner.result("git_reset", ref=head, mode="hard")
        assert git(repo.root, "status", "--porcelain") == ""
        assert {path: path.read_bytes() for path in repo.root.glob("*") if path.is_file()} == before
    finally:
        inner.session.close()


def test_a_worktree_that_is_served_is_not_removed(repo: Repo, tmp_path: Path) -> None:
    repo.result("git_worktree", action="add", path="fix")
    lock = StateDir.create(place(repo, "fix")).lock()
    assert lock.acquire()
    assert "being served" in repo.error("git_worktree", action="remove", path="fix", force=True)["message"]
    lock.release()


def test_filling_a_worktree_runs_nothing_that_the_repository_names(repo: Repo, tmp_path: Path) -> None:
    hooks, mark = tmp_path / "hooks", tmp_path / "ran"
    hooks.mkdir()
    (hooks / "post-index-change").write_text(f"#!/bin/sh\ntouch {mark}\n")
    (hooks / "post-index-change").chmod(0o755)
    git(repo.root, "config", "core.hooksPath", str(hooks))
    git(repo.root, "config", "core.fsmonitor", str(hooks / "post-index-change"))
    assert not repo.session.checkout.trusted
    repo.result("git_worktree", action="add", path="fix")
    assert (place(repo, "fix") / "app.py").read_text() == "one = 1\n" and not mark.exists()
    git(repo.root, "worktree", "add", "-q", str(tmp_path / "theirs"))
    assert mark.exists()


def test_a_worktree_has_the_line_ends_that_the_configuration_asks_for(repo: Repo) -> None:
    git(repo.root, "config", "core.autocrlf", "true")
    repo.result("git_worktree", action="add", path="fix")
    assert (place(repo, "fix") / "app.py").read_bytes() == b"one = 1\r\n"
    assert git(place(repo, "fix"), "status", "--porcelain") == ""


def test_a_worktree_is_filled_without_the_git_program(repo: Repo, tmp_path: Path) -> None:
    target = plan_target(repo.session.checkout.repository, tmp_path / "fix", None, "fix")
    programs = Programs({"PATH": "/nowhere"})
    add_worktree(repo.session.checkout.repository, programs, tmp_path / "fix", target)
    assert (tmp_path / "fix/app.py").read_text() == "one = 1\n"
    assert git(tmp_path / "fix", "status", "--porcelain") == ""


def test_contents_that_the_clone_lacks_are_an_error_and_leave_nothing(repo: Repo) -> None:
    blob = git(repo.root, "rev-parse", "HEAD:app.py").strip()
    (repo.root / f".git/objects/{blob[:2]}/{blob[2:]}").unlink()
    assert repo.error("git_worktree", action="add", path="fix")["name"] == "GIT_FAILED"
    assert not place(repo, "fix").exists() and not list((repo.root / ".git/worktrees").iterdir())
