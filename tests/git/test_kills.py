"""A process that is killed in the middle of a checkout leaves what the same call can finish."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from codeplane.git import open_repository
from codeplane.git.ops.checkout import check_out, find_target
from codeplane.git.ops.reset import ResetMode, reset_head
from codeplane.git.repo.ref_locks import drop_ref_locks
from codeplane.git.worktree.index_writer import drop_own_lock
from codeplane.process import Programs
from tests.drive import Cpl, new_repo, user_env
from tests.git import plain

PROGRAMS = Programs({"PATH": os.environ["PATH"]})
COUNT = 2000
CHILD = """
import sys
from pathlib import Path
from codeplane.git import open_repository
from codeplane.git.ops.checkout import check_out, find_goal
from codeplane.process import Programs
repository = open_repository(Path(sys.argv[1]), trusted=False)
check_out(repository, Programs({}), find_goal(repository, "other"))
"""
# Ends where the index is locked and not replaced yet.
WRITES = """
import os, signal
from pathlib import Path
from codeplane.git import open_repository
from codeplane.git.worktree.index_writer import locked_index
repository = open_repository(Path({!r}), trusted=False)
with repository.opened() as handle, locked_index(repository, handle) as following:
    following.index.write()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Between the branches every file differs: edited, made or deleted."""
    root = tmp_path / "repo"
    root.mkdir()
    plain.run(root, "init", "-q", "--template=", "--initial-branch=main")
    plain.run(root, "fast-import", "--quiet", stdin=b"".join(stream("other")) + b"".join(stream("main")))
    plain.run(root, "reset", "-q", "--hard")
    return root


def stream(branch: str) -> list[bytes]:
    out = [f"commit refs/heads/{branch}\ncommitter A <a@example.org> 1600000000 +0000\ndata 2\nx\n".encode()]
    for number in range(COUNT):
        name = f"d{number % 40:02}/{branch if number % 4 == 0 else 'both'}{number:04}.txt"
        data = f"{branch} {number}\n".encode()
        out.append(f"M 644 inline {name}\ndata {len(data)}\n".encode() + data)
    return [*out, b"\n"]


def killed_when(root: Path, number: int, argv: list[str], env: dict[str, str] | None = None) -> None:
    """Kills a process as soon as a file has its new content."""
    place = root / f"d{number % 40:02}/both{number:04}.txt"
    expected = f"other {number}\n"
    process = subprocess.Popen(argv, cwd=root, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        if place.exists() and place.read_text() == expected:
            os.kill(process.pid, signal.SIGKILL)
            break
    process.wait()


def cut_off_and_repeated(root: Path, number: int, *, back: bool) -> None:
    killed_when(root, number, [sys.executable, "-c", CHILD, str(root)])
    assert plain.text(root, "branch", "--show-current") == "main" or not plain.run(root, "status", "-s")
    repository = open_repository(root, trusted=False)
    drop_own_lock(repository)  # as the next start does
    if back:
        reset_head(repository, PROGRAMS, "main", ResetMode.HARD, force=True)
        assert plain.text(root, "rev-parse", "main^{tree}") == plain.text(root, "write-tree")
        assert plain.run(root, "diff") == b""
    check_out(repository, PROGRAMS, find_target(repository, "other"))
    assert plain.run(root, "status", "--porcelain") == b"" and len(plain.files_of(root)) == COUNT
    assert plain.text(root, "branch", "--show-current") == "other"


def test_what_was_cut_off_is_finished_by_the_same_call(root: Path) -> None:
    cut_off_and_repeated(root, 1001, back=False)


def test_only_a_lock_that_is_ours_is_removed_at_a_start(tmp_path: Path) -> None:
    plain.run(tmp_path, "init", "-q", "--template=")
    repository = open_repository(tmp_path, trusted=False)
    lock = repository.git_dir / "index.lock"
    lock.touch()
    assert drop_own_lock(repository) is None and lock.exists()
    lock.write_bytes(b"DIRC and more")
    assert drop_own_lock(repository) is None and lock.exists()
    lock.unlink()
    done = subprocess.run([sys.executable, "-c", WRITES.format(str(tmp_path))], check=False)
    assert done.returncode == -signal.SIGKILL and lock.exists()
    assert "interrupted" in (drop_own_lock(repository) or "")
    assert not list(repository.git_dir.glob("*index*"))


def test_a_lock_of_a_reference_is_removed_if_it_came_with_the_operation(tmp_path: Path) -> None:
    repository = open_repository(new_repo(tmp_path / "repo"), trusted=False)
    old, new = (repository.git_dir / name for name in ("HEAD.lock", "refs/heads/main.lock"))
    old.touch()
    os.utime(old, (1_000_000_000, 1_000_000_000))
    new.touch()
    told = drop_ref_locks(repository, ["main"], new.stat().st_mtime - 1)
    assert [line.split()[0] for line in told] == [str(new)] and old.exists() and not new.exists()
    assert drop_ref_locks(repository, ["main"], 2_000_000_000) == [] and old.exists()


@pytest.mark.soak
@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("number", [1, 2, 501, 1501, 1999])
def test_what_was_cut_off_is_finished_or_taken_back(root: Path, number: int, back: bool) -> None:
    cut_off_and_repeated(root, number, back=back)


@pytest.mark.soak
def test_the_next_start_tells_of_it(root: Path, tmp_path: Path) -> None:
    cpl = Cpl(root, user_env(tmp_path / "home"))
    cpl.run("init")
    killed_when(root, 1001, [*cpl.program, "call", "git_checkout", '{"ref": "other"}'], cpl.env)
    with cpl.mcp("--profile", "full") as client:
        client.open()
        told = json.dumps(client.call("describe"))
        assert "git_checkout" in told and "interrupted by a crash" in told
        done = client.call("git_checkout", {"ref": "other"})
        assert done["result"]["branch"] == "other" and done["result"]["status"] == "1 untracked"
    assert plain.run(root, "status", "--porcelain", "--untracked-files=no") == b""
