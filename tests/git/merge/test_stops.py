"""A process that is killed at any moment of a merge, a cherry-pick or a rebase loses nothing; abort works."""

import os
import random
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from codeplane.core.errors import GitUnfinished
from codeplane.git import Repository, open_repository
from codeplane.git.merge.merge import MergeOptions, merge
from codeplane.git.merge.rebase import abort_rebase as abandon_rebase
from codeplane.git.merge.rebase import continue_rebase, plan_rebase, start_rebase
from codeplane.git.merge.resume import Resolution, abort_merge, continue_merge
from codeplane.git.merge.sequencer import Picking, pick_commits
from codeplane.git.worktree.index_writer import drop_own_lock
from codeplane.process import Programs
from tests.git import plain

PROGRAMS = Programs({"PATH": os.environ["PATH"]})
COMMITTER = b"committer A <a@example.org> 1600000000 +0000\n"
SETTINGS = "[user]\n\tname = A\n\temail = a@example.org\n"

Act = Callable[[Repository], object]


def stream(*, torn: bool) -> bytes:
    """`main` and `side` have two commits each; with `torn` the second ones conflict."""
    base = {f"f{number}": f"{number}\n" * 5 for number in range(6)}
    out = [commit("main", base, None)]
    for branch in ("side", "main"):
        one = (
            base | {"f0": f"{branch}\n{base['f0']}"} if branch == "side" else base | {f"new-{branch}": "n\n"}
        )
        del one["f1" if branch == "side" else "f2"]
        two = one | {
            "f3" if torn or branch == "main" else "f4": f"{branch} torn\n",
            f"more-{branch}/x": "y\n",
        }
        out.append(commit(branch, one, "refs/heads/main" if branch == "side" else None))
        out.append(commit(branch, two, None))
    return b"".join(out)


def commit(branch: str, files: dict[str, str], start_: str | None) -> bytes:
    from_ = f"from {start_}\n" if start_ else ""
    out = [f"commit refs/heads/{branch}\n".encode() + COMMITTER + f"data 2\nx\n{from_}deleteall\n".encode()]
    for name, text in files.items():
        out.append(f"M 644 inline {name}\ndata {len(text)}\n{text}\n".encode())
    return b"".join(out)


def made(root: Path, *, torn: bool, loose: bool) -> Repository:
    root.mkdir(parents=True)
    plain.run(root, "init", "-q", "--template=", "--initial-branch=main")
    plain.run(root, "fast-import", "--quiet", stdin=stream(torn=torn))
    plain.run(root, "reset", "-q", "--hard")
    with (root / ".git" / "config").open("a") as config:
        config.write(SETTINGS)
    (root / "mine.txt").write_text("not tracked\n")
    if loose:
        (root / "f5").write_text("changed here\n")
    return open_repository(root, trusted=False)


def rebase(repository: Repository) -> None:
    with repository.opened() as handle:
        start_rebase(repository, PROGRAMS, handle, plan_rebase(handle, "side", None), [])


def resolution(repository: Repository) -> Resolution:
    return Resolution(lambda path: (repository.root / path).read_bytes(), ["f3"])


MOST = {"merge": 14_000, "cherry_pick": 15_000, "rebase": 30_000}
ACTS: dict[str, Act] = {
    "merge": lambda one: merge(one, PROGRAMS, "side", MergeOptions()),
    "cherry_pick": lambda one: pick_commits(one, PROGRAMS, ["side~1", "side"], Picking()),
    "rebase": rebase,
}


def continued(name: str, repository: Repository) -> None:
    ACTS[name](repository)
    (continue_rebase if name == "rebase" else continue_merge)(repository, PROGRAMS, resolution(repository))


def run_and_kill(act: Act, repository: Repository, moment: int) -> bool:
    """Runs it in a process of its own, which is killed when so many functions have begun or ended."""
    child = os.fork()
    if child == 0:
        left = [moment]

        def count(*_: object) -> None:
            left[0] -= 1
            if left[0] <= 0:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.setprofile(count)
        act(repository)
        sys.setprofile(None)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def aborted(name: str, repository: Repository) -> None:
    drop_own_lock(repository)
    for lock in (*repository.git_dir.glob("refs/**/*.lock"), *repository.git_dir.glob("*.lock")):
        lock.unlink(missing_ok=True)  # as the error says that would name it
    try:
        (abandon_rebase if name == "rebase" else abort_merge)(repository, PROGRAMS)
    except GitUnfinished as error:
        assert error.message.endswith("is in progress."), error.message


def seen(root: Path) -> tuple[object, ...]:
    state = plain.state_of(root)
    tree = plain.text(root, "rev-parse", "HEAD^{tree}")
    return plain.run(root, "symbolic-ref", "HEAD"), tree, state.index, state.status, dict(state.files)


def check(tmp_path: Path, name: str, *, torn: bool, goes_on: bool, moments: list[int]) -> None:
    act: Act = (lambda one: continued(name, one)) if goes_on and torn else ACTS[name]
    loose = name != "rebase"
    first = made(tmp_path / "first" / "repo", torn=torn, loose=loose)
    before = seen(first.root)
    act(first)
    aborted(name, first)
    ends = (before, seen(first.root))
    killed = 0
    for number, moment in enumerate(moments):
        repository = made(tmp_path / str(number) / "repo", torn=torn, loose=loose)
        killed += run_and_kill(act, repository, moment)
        plain.run(repository.root, "fsck", "--no-progress")
        aborted(name, repository)
        assert seen(repository.root) in ends, moment
        assert (repository.root / "mine.txt").read_text() == "not tracked\n"
        # A resolution is work, so it is saved; nothing else is.
        assert goes_on or not plain.run(repository.root, "for-each-ref", "refs/codeplane")
        act(repository) if seen(repository.root) == before else None
    assert killed


def moments(count: int, most: int) -> list[int]:
    return random.Random(count).sample(range(1, most), count)


@pytest.mark.parametrize("name", ACTS)
def test_nothing_is_lost_whenever_it_is_killed(tmp_path: Path, name: str) -> None:
    check(tmp_path, name, torn=True, goes_on=True, moments=moments(4, MOST[name]))


def test_a_rebase_that_was_cut_off_when_its_branch_had_moved_is_taken_back_whole(tmp_path: Path) -> None:
    repository = made(tmp_path / "repo", torn=True, loose=False)
    before, root = seen(repository.root), repository.root
    rebase(repository)
    plain.run(root, "update-ref", "refs/heads/main", "HEAD")
    abandon_rebase(repository, PROGRAMS)
    assert seen(root) == before


@pytest.mark.soak
@pytest.mark.parametrize("goes_on", [False, True])
@pytest.mark.parametrize("torn", [False, True])
@pytest.mark.parametrize("name", ACTS)
def test_nothing_is_lost_at_a_hundred_moments(tmp_path: Path, name: str, torn: bool, goes_on: bool) -> None:
    check(tmp_path, name, torn=torn, goes_on=goes_on, moments=moments(100, MOST[name]))
