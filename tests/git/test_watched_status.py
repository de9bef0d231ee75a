"""The status of a tree whose events are followed: files are not asked again, and it is still right."""

import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from codeplane.core.paths import RepoPath
from codeplane.working_tree import Known
from codeplane.working_tree import known as truth_known
from tests.drive import new_repo
from tests.git.reading import check_status, tree_of
from tests.git.test_status import CASES, new
from tests.index.test_edits import Churn

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="events are followed on Linux")


class Followed:
    """A tree, and what the last look at what has happened in it has left known."""

    def __init__(self, root: Path, state: Path) -> None:
        self.known: Mapping[RepoPath, Known] = {}
        self.tree = tree_of(root)
        assert self.tree.follow(state) == ""
        self.now()
        self.tree.git.followed = self.now

    def now(self) -> Mapping[RepoPath, Known]:
        delta = self.tree.reconcile(self.known, followed=True)
        self.known = delta.applied_to(self.known)
        self.tree.settle()
        return self.known


def aged(root: Path) -> None:
    """As if the files had been staged a while ago: git trusts no file that is as young as its index."""
    time.sleep(0.03)
    os.utime(root / ".git" / "index")


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are known for good at once; as they are, that takes two seconds."""
    monkeypatch.setattr(truth_known, "RACY_NS", 0)


@pytest.mark.parametrize("arrange", CASES, ids=lambda arrange: arrange.__name__)
def test_what_happens_while_it_is_followed_is_told_like_git(
    tmp_path: Path, arrange: Callable[[Path], None]
) -> None:
    root = new(tmp_path / "repo")
    aged(root)
    followed = Followed(root, tmp_path)
    check_status(root, followed.tree)
    arrange(root)
    check_status(root, followed.tree)
    assert followed.tree.git.unstaged() == tree_of(root).git.unstaged()


@pytest.mark.parametrize("seed", range(12))
def test_a_random_walk_is_told_like_git(tmp_path: Path, seed: int) -> None:
    repo = new_repo(tmp_path)
    churn = Churn(repo, seed)
    for _ in range(8):
        churn.edit()
    churn.commit()
    followed = Followed(repo, tmp_path)
    for _ in range(12):
        churn.step()
        aged(repo)
        check_status(repo, followed.tree)
        assert followed.tree.git.unstaged() == tree_of(repo).git.unstaged()


def test_files_that_nothing_has_happened_to_are_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = new(tmp_path / "repo")
    aged(root)
    followed = Followed(root, tmp_path)
    (root / "b.txt").write_text("other\n")
    asked: list[str] = []
    lstat = os.lstat

    def noting(path: str, *, dir_fd: int | None = None) -> os.stat_result:
        asked.extend([path] if dir_fd is not None else [])
        return lstat(path, dir_fd=dir_fd)

    known = followed.now()
    monkeypatch.setattr(os, "lstat", noting)
    followed.tree.git.followed = lambda: known
    found, _ = followed.tree.git.unstaged()
    assert ([one.path for one in found], asked) == (["b.txt"], ["b.txt"])
