"""Fetching and pulling from real remotes through the tools."""

import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.core.errors import Cancelled
from codeplane.core.ids import new_request_id
from codeplane.session import Call
from codeplane.session.call import Stop
from codeplane.tools.git_pull import GitPullInput, git_pull
from tests.drive import git
from tests.git.servers import git_daemon, http_server, new_bare, refused_port, silent_server
from tests.tools.repo import Repo


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[Repo]:
    """A repository and the bare one that it follows, `served/app.git`, at the same commit."""
    made = Repo(tmp_path, {"app.py": "one = 1\n", "lib.py": "two = 2\n"})
    bare = new_bare(tmp_path / "served" / "app.git")
    git(made.root, "remote", "add", "origin", f"file://{bare}")
    git(made.root, "push", "-qu", "origin", "main")
    yield made
    made.session.close()


@pytest.fixture
def other(repo: Repo, tmp_path: Path) -> Path:
    """Somebody else's clone."""
    git(tmp_path, "clone", "-q", str(tmp_path / "served" / "app.git"), "other")
    return tmp_path / "other"


def commit(root: Path, text: str, path: str = "app.py") -> str:
    (root / path).write_text(text)
    git(root, "add", path)
    git(root, "commit", "-qm", f"{path}: {text.strip()}")
    return git(root, "rev-parse", "HEAD")


def pushed(other: Path, text: str = "one = 11\n", path: str = "app.py") -> str:
    made = commit(other, text, path)
    git(other, "push", "-q", "origin", "HEAD:main")
    return made


def test_a_fast_forward_brings_files_symbols_and_reflogs(repo: Repo, other: Path) -> None:
    before, theirs = git(repo.root, "rev-parse", "HEAD"), pushed(other, "def one(): ...\n")
    told = repo.result("git_pull")
    assert (told["head_before"], told["head"], told["files_changed"]) == (before[:10], theirs[:10], 1)
    assert told["refs"] == [
        {"ref": "refs/remotes/origin/main", "move": "updated", "before": before[:10], "after": theirs[:10]}
    ]
    assert (repo.root / "app.py").read_text() == "def one(): ...\n"
    assert (
        git(repo.root, "status", "--porcelain") == "" and git(repo.root, "rev-parse", "ORIG_HEAD") == before
    )
    assert "pull: Fast-forward" in git(repo.root, "reflog")
    assert "fetch origin: fast-forward" in git(repo.root, "reflog", "origin/main")
    git(repo.root, "fsck", "--strict")
    assert "already up to date" in repo.result("git_pull")["summary"]


def test_fetch_only_leaves_branch_and_files_and_writes_fetch_head_as_git_does(
    repo: Repo, other: Path, tmp_path: Path
) -> None:
    pushed(other)
    git(other, "tag", "-a", "-m", "one", "v1")
    git(other, "push", "-q", "origin", "v1", "HEAD:topic")
    git(tmp_path, "clone", "-q", "--no-hardlinks", str(repo.root), "copy")
    git(tmp_path / "copy", "remote", "set-url", "origin", git(repo.root, "remote", "get-url", "origin"))
    git(tmp_path / "copy", "fetch", "-q")
    head = git(repo.root, "rev-parse", "HEAD")
    told = repo.result("git_pull", fetch_only=True)
    assert {one["ref"]: one["move"] for one in told["refs"]} == {
        "refs/remotes/origin/main": "updated",
        "refs/remotes/origin/topic": "new",
        "refs/tags/v1": "new",
    }
    assert git(repo.root, "rev-parse", "HEAD") == head and "head_before" not in told
    ours, theirs = repo.root / ".git/FETCH_HEAD", tmp_path / "copy/.git/FETCH_HEAD"
    assert ours.read_text() == theirs.read_text()
    assert git(repo.root, "show-ref", "--tags") == git(tmp_path / "copy", "show-ref", "--tags")
    assert not list((repo.root / ".git/objects").glob("tmp_objdir*"))


def test_what_is_gone_there_is_pruned_when_asked(repo: Repo, other: Path) -> None:
    git(other, "push", "-q", "origin", "HEAD:topic")
    repo.result("git_pull", fetch_only=True)
    git(other, "push", "-q", "origin", ":topic")
    assert "refs" not in repo.result("git_pull", fetch_only=True)
    git(repo.root, "config", "fetch.prune", "true")
    gone = repo.result("git_pull", fetch_only=True)["refs"]
    assert [(one["ref"], one["move"]) for one in gone] == [("refs/remotes/origin/topic", "pruned")]


def test_work_that_would_be_lost_stops_a_pull_and_the_fetch_is_kept(repo: Repo, other: Path) -> None:
    theirs = pushed(other)
    repo.write("app.py", "mine = 1\n")
    refused = repo.error("git_pull")
    assert refused["name"] == "WORK_AT_RISK" and "app.py" in refused["message"]
    assert (repo.root / "app.py").read_text() == "mine = 1\n"
    assert git(repo.root, "rev-parse", "origin/main") == theirs


def test_a_mirror_does_not_move_the_branch_that_is_checked_out(repo: Repo, other: Path) -> None:
    git(repo.root, "config", "remote.origin.fetch", "+refs/heads/*:refs/heads/*")
    head, _ = git(repo.root, "rev-parse", "HEAD"), pushed(other)
    told = repo.result("git_pull", fetch_only=True)
    assert told["refs"][0]["move"] == "rejected" and "checked out" in told["refs"][0]["why"]
    assert git(repo.root, "rev-parse", "HEAD") == head


def test_the_git_protocol_brings_the_same(repo: Repo, other: Path, tmp_path: Path) -> None:
    theirs = pushed(other)
    with git_daemon(tmp_path / "served") as url:
        git(repo.root, "remote", "set-url", "origin", f"{url}/app.git")
        assert repo.result("git_pull")["head"] == theirs[:10]
    git(repo.root, "fsck", "--strict")


def test_a_remote_that_does_not_answer_is_left_at_the_deadline(repo: Repo) -> None:
    settings = repo.session.checkout.settings
    object.__setattr__(settings, "git", settings.git.model_copy(update={"remote_timeout_sec": 0.6}))
    with silent_server() as place:
        for address in (f"http://{place}/a", f"git://{place}/a", "git://192.0.2.1/a"):
            git(repo.root, "remote", "set-url", "origin", address)
            began = time.monotonic()
            assert repo.error("git_pull")["name"] == "REMOTE_UNREACHABLE"
            assert time.monotonic() - began < 10
    git(repo.root, "remote", "set-url", "origin", f"http://{refused_port()}/a")
    assert repo.error("git_pull")["name"] == "REMOTE_UNREACHABLE"
    assert not list((repo.root / ".git/objects").glob("tmp_objdir*"))


def test_a_repository_that_is_not_there_is_a_refusal(repo: Repo, tmp_path: Path) -> None:
    with http_server(tmp_path / "served", needs_password=False) as (url, _):
        git(repo.root, "remote", "set-url", "origin", f"{url}/none.git")
        assert repo.error("git_pull")["name"] == "REMOTE_REFUSED"


def test_what_the_repository_says_of_remotes_is_not_obeyed_and_named(repo: Repo, other: Path) -> None:
    theirs = pushed(other)
    git(repo.root, "config", "url.ext::sh.insteadOf", "file:")
    git(repo.root, "config", "remote.origin.uploadpack", "touch /tmp/never")
    git(repo.root, "config", "http.proxy", "http://127.0.0.1:1")
    answer = repo.ask("git_pull")
    assert answer.body["result"]["head"] == theirs[:10]
    told = next(one for one in answer.body["meta"]["warnings"] if one.startswith("Ignored"))
    assert all(key in told for key in ("http.proxy", "remote.origin.uploadpack", "url.ext::sh.insteadof"))


def test_a_shallow_clone_pulls_and_stays_shallow(repo: Repo, other: Path, tmp_path: Path) -> None:
    for n in range(3):
        pushed(other, f"one = {n}\n")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{tmp_path}/served/app.git", "shallow")
    made = Repo.at(tmp_path / "shallow", tmp_path)
    theirs = pushed(other, "last = 1\n")
    assert made.result("git_pull")["head"] == theirs[:10]
    assert git(made.root, "rev-parse", "--is-shallow-repository") == "true"
    git(made.root, "fsck")
    made.session.close()


def test_a_branch_without_a_commit_takes_what_is_there(repo: Repo, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main", "fresh")
    made = Repo.at(tmp_path / "fresh", tmp_path)
    made.result("git_remote", action="add", name="origin", url=f"file://{tmp_path}/served/app.git")
    assert made.error("git_pull")["name"] == "INVALID_ARGUMENT"
    assert made.result("git_pull", branch="main")["head"] == git(repo.root, "rev-parse", "HEAD")[:10]
    assert git(made.root, "status", "--porcelain") == ""
    made.session.close()


def _as_git(repo: Repo, tmp_path: Path, *arguments: str) -> Path:
    """What the git program makes of the same pull, in a copy of the same repository."""
    copy = tmp_path / "as-git"
    shutil.copytree(repo.root, copy, ignore=shutil.ignore_patterns(".codeplane"), symlinks=True)
    done = subprocess.run(
        ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", "pull", "-q", *arguments],
        cwd=copy,
        capture_output=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return copy


def _state(root: Path) -> list[str]:
    """All that two pulls must have alike; ids of commits differ by their times."""
    told = [git(root, *command) for command in (("ls-files", "-s"), ("status", "--porcelain"))]
    told.append(git(root, "log", "--format=%T %an %ae %s|%b", "--topo-order"))
    told.append(git(root, "log", "--merges", "--format=%s"))
    return [*told, *(path.read_text() for path in sorted(root.glob("*.py")))]


@pytest.fixture
def apart(repo: Repo, other: Path) -> Repo:
    """Both sides have a commit of their own, in different files."""
    pushed(other, "one = 11\n")
    commit(repo.root, "two = 22\n", "lib.py")
    for key, value in (("user.name", "T"), ("user.email", "t@example.org")):
        git(repo.root, "config", key, value)
    return repo


def test_both_sides_are_merged_as_git_merges_them(apart: Repo, tmp_path: Path) -> None:
    theirs = _as_git(apart, tmp_path, "--no-rebase", "--no-edit")
    head = git(apart.root, "rev-parse", "HEAD")
    assert "fast-forward" in apart.error("git_pull", ff_only=True)["message"]
    assert git(apart.root, "rev-parse", "HEAD") == head
    told = apart.result("git_pull", rebase=False)
    assert told["summary"].startswith("merged origin/main as ") and told["files_changed"] == 1
    assert _state(apart.root) == _state(theirs)
    assert len(git(apart.root, "log", "-1", "--format=%P").split()) == 2
    assert git(apart.root, "reflog", "-1", "--format=%gs") == "pull: Merge made by the 'ort' strategy."
    git(apart.root, "fsck")


def test_a_conflict_is_described_and_git_can_go_on(apart: Repo, tmp_path: Path) -> None:
    commit(apart.root, "one = 12\n")
    theirs = _as_git(apart, tmp_path, "--no-rebase", "--no-edit")
    told = apart.result("git_pull")
    assert [one["path"] for one in told["conflicts"]] == ["app.py"] and "merge" in told["status"]
    assert (apart.root / "app.py").read_bytes() == (theirs / "app.py").read_bytes()
    assert git(apart.root, "ls-files", "-u") == git(theirs, "ls-files", "-u")
    ours, message = ((root / ".git/MERGE_MSG").read_text().splitlines()[0] for root in (apart.root, theirs))
    assert ours == message
    (apart.root / "app.py").write_text("one = 13\n")
    git(apart.root, "commit", "-qam", "by hand")
    assert len(git(apart.root, "log", "-1", "--format=%P").split()) == 2


def test_commits_are_put_on_top_as_git_does_it(apart: Repo, tmp_path: Path) -> None:
    git(apart.root, "config", "pull.rebase", "true")
    theirs = _as_git(apart, tmp_path)
    answer = apart.result("git_pull")
    assert answer["files_changed"] == 1
    assert _state(apart.root) == _state(theirs)
    assert git(apart.root, "rev-parse", "HEAD~1") == git(apart.root, "rev-parse", "origin/main")
    git(apart.root, "fsck")


def test_a_rebase_stops_on_a_conflict_and_goes_on(apart: Repo) -> None:
    commit(apart.root, "one = 12\n")
    told = apart.result("git_pull", rebase=True)
    assert [one["path"] for one in told["conflicts"]] == ["app.py"]
    assert apart.error("git_pull")["name"] == "GIT_UNFINISHED"
    (apart.root / "app.py").write_text("one = 13\n")
    apart.result("git_rebase", action="continue", resolved=["app.py"])
    assert git(apart.root, "rev-list", "--count", "origin/main..HEAD") == "2"


def test_names_that_are_not_text_and_broken_references_stop_nothing(repo: Repo, other: Path) -> None:
    theirs = pushed(other)
    bare = other.parent / "served" / "app.git"
    for root, ref in (
        (repo.root, b"refs/heads/\xff"),
        (repo.root, b"refs/tags/\xfe"),
        (bare, b"refs/heads/\xfd"),
    ):
        subprocess.run(["git", "update-ref", ref, "main"], cwd=root, check=True)
    (repo.root / ".git/refs/heads/broken").write_text("nonsense\n")
    assert repo.result("git_pull", prune=True, tags=True)["head"] == theirs[:10]
    assert "already up to date" in repo.result("git_push", tags=True)["summary"]


def test_a_call_that_is_withdrawn_ends_the_exchange(repo: Repo) -> None:
    with silent_server() as place:
        git(repo.root, "remote", "set-url", "origin", f"http://{place}/a")
        call = Call(repo.session, repo.session.sessions.enter("a client"), new_request_id())
        threading.Timer(0.5, call.stop, [Stop.CANCELLED]).start()
        began = time.monotonic()
        with pytest.raises(Cancelled):
            git_pull.run(call, GitPullInput(fetch_only=True))
        assert time.monotonic() - began < 20
    assert not list((repo.root / ".git/objects").glob("tmp_objdir*"))
