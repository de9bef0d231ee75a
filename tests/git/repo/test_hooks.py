"""Hooks run as git runs them where the repository is trusted, and nowhere else."""

import os
from pathlib import Path

import psutil
import pytest

from codeplane.core.errors import HookRefused
from codeplane.git import open_repository
from codeplane.git.repo.hooks import run_hook
from codeplane.process import Programs
from tests.drive import eventually, git, new_repo


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return new_repo(tmp_path / "repo")


def hook(directory: Path, name: str, script: str) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return file


def run(root: Path, name: str, *args: str, trusted: bool = True, **more: object) -> tuple[str, ...]:
    programs = Programs({"PATH": os.environ["PATH"]})
    return run_hook(open_repository(root, trusted=trusted), programs, name, args, **more)  # type: ignore[arg-type]


def test_a_hook_sees_what_git_shows_it(root: Path) -> None:
    told = 'echo "$GIT_DIR $GIT_EDITOR $1 $(cat) $(pwd) $(git rev-parse --show-toplevel)" > told'
    hook(root / ".git/hooks", "commit-msg", told)
    assert run(root, "commit-msg", "file", stdin=b"in") == ()
    assert (root / "told").read_text().split() == [f"{root}/.git", ":", "file", "in", str(root), str(root)]


def test_a_hook_that_fails_refuses_and_says_what_it_said(root: Path) -> None:
    hook(root / ".git/hooks", "pre-commit", "echo no spaces, please; exit 3")
    with pytest.raises(HookRefused, match=r"failed \(3\)") as refused:
        run(root, "pre-commit")
    assert refused.value.details["output"] == "no spaces, please"


def test_a_hook_after_the_fact_refuses_nothing(root: Path) -> None:
    hook(root / ".git/hooks", "post-commit", "echo late; exit 1")
    assert run(root, "post-commit") == ("The hook post-commit failed (1): late",)


def test_a_hook_that_hangs_is_ended_with_its_children(root: Path) -> None:
    hook(root / ".git/hooks", "pre-commit", "sleep 7200 & echo $! > child; wait")
    with pytest.raises(HookRefused, match="did not end"):
        run(root, "pre-commit", timeout=2)
    child = int((root / "child").read_text())
    # What is killed ends when it next gets a processor.
    eventually(lambda: is_gone(child))


def is_gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == "zombie"
    except psutil.NoSuchProcess:
        return True


def test_nothing_runs_in_a_repository_that_is_not_trusted(root: Path, tmp_path: Path) -> None:
    hook(root / ".git/hooks", "pre-commit", "touch ran")
    assert run(root, "pre-commit", trusted=False) == (
        "The hook pre-commit was not run: the repository is not trusted (cpl trust).",
    )
    hook(tmp_path / "elsewhere", "pre-commit", "touch ran")
    git(root, "config", "core.hooksPath", str(tmp_path / "elsewhere"))
    (note,) = run(root, "pre-commit", trusted=False)
    assert "core.hooksPath" in note and not (root / "ran").exists()


@pytest.mark.parametrize("said", ["tools/hooks", "/{base}/tools/hooks"])
def test_hooks_may_live_elsewhere(root: Path, said: str) -> None:
    hook(root / "tools/hooks", "pre-commit", "touch ran")
    git(root, "config", "core.hooksPath", said.replace("/{base}", str(root)))
    assert run(root, "pre-commit") == () and (root / "ran").exists()


def test_a_file_that_may_not_be_run_is_no_hook(root: Path) -> None:
    hook(root / ".git/hooks", "pre-commit", "exit 1").chmod(0o644)
    assert run(root, "pre-commit") == run(root, "pre-commit", trusted=False) == ()


def test_a_linked_worktree_has_the_hooks_of_the_primary(root: Path, tmp_path: Path) -> None:
    hook(root / ".git/hooks", "pre-commit", "touch ran")
    git(root, "worktree", "add", "-q", str(tmp_path / "linked"))
    assert run(tmp_path / "linked", "pre-commit") == () and (tmp_path / "linked/ran").exists()
