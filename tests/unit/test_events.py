"""Looks at what has happened alone find the same as looks at everything."""

import os
import random
import shutil
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from codeplane.core.paths import RepoPath
from codeplane.truth import Known, WorkingTree, events
from tests.drive import new_repo
from tests.index.conftest import tree_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="events are followed on Linux")

FILES = {".gitignore": "*.tmp\nout/\n", "a.py": "a = 1\n", "pkg/b.py": "b = 1\n", "pkg/deep/c.py": "c = 1\n"}


class Followed:
    """A tree whose events are followed, and what is known of it."""

    def __init__(self, root: Path, base: Path) -> None:
        self.root = root
        self.tree = tree_of(root)
        assert self.tree.follow(base / "cookie") == ""
        self.known: dict[RepoPath, Known] = {}
        self.look()

    def look(self, *, settled: bool = True) -> None:
        delta = self.tree.reconcile(self.known, followed=True)
        if settled:
            self.known = delta.applied_to(self.known)
            self.tree.settle()

    def digests(self) -> dict[RepoPath, str]:
        return {path: known.digest for path, known in self.known.items()}

    def check(self, why: str = "") -> None:
        fresh = tree_of(self.root).reconcile({})
        assert self.digests() == {path: known.digest for path, known in fresh.added.items()}, why


@pytest.fixture
def followed(tmp_path: Path) -> Followed:
    return Followed(new_repo(tmp_path / "r", FILES), tmp_path)


def asked(tree: WorkingTree, known: dict[RepoPath, Known], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths in the tree whose stat a look asks for."""
    paths: list[str] = []
    real = os.lstat

    def spy(path: str) -> os.stat_result:
        paths.append(str(path).removeprefix(f"{tree.jail.root}/"))
        return real(path)

    with monkeypatch.context() as patched:
        patched.setattr(os, "lstat", spy)
        tree.reconcile(known, followed=True)
    return [path for path in paths if path.endswith(".py") or "." not in path]


def test_where_nothing_happened_nothing_is_asked_for(
    followed: Followed, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asked(followed.tree, followed.known, monkeypatch) == []
    (followed.root / "pkg/b.py").write_text("b = 2\n")
    assert asked(followed.tree, followed.known, monkeypatch) == ["pkg/b.py"]
    # Until it is settled it is looked at again.
    assert asked(followed.tree, followed.known, monkeypatch) == ["pkg/b.py"]
    followed.look()
    assert asked(followed.tree, followed.known, monkeypatch) == []
    followed.tree.doubt()
    assert {"a.py", "pkg/b.py", "pkg/deep/c.py"} <= set(asked(followed.tree, followed.known, monkeypatch))


class Churn:
    """Everything that programs do to trees, by the roll of a die."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root, self.die = root, random.Random(seed)
        self.outside = root.parent / f"outside{seed}"
        self.outside.mkdir()

    def step(self) -> str:
        work = self.die.choice(
            (
                *(self.write, self.write, self.append, self.swap, self.drop, self.link, self.write_linked),
                *(self.make, self.move, self.remake, self.point, self.pipe, self.rules, self.mode),
            )
        )
        with suppress(OSError):
            work()
        return work.__name__

    def _folder(self) -> Path:
        return self.root / self.die.choice((".", "pkg", "pkg/deep", "new", "new/inner", "out"))

    def _file(self) -> Path:
        return self._folder() / self.die.choice(("a.py", "b.py", "c.py", "d.tmp"))

    def _text(self) -> str:
        return f"x = {self.die.randint(100, 999)}\n"

    def write(self) -> None:
        self._file().write_text(self._text())

    def append(self) -> None:
        with self._file().open("a") as file:
            file.write(self._text())

    def swap(self) -> None:
        made = self.root / "swap.tmp"
        made.write_text(self._text())
        made.replace(self._file())

    def drop(self) -> None:
        self._file().unlink()

    def link(self) -> None:
        self._file().hardlink_to(self._outer())

    def _outer(self) -> Path:
        outer = self.outside / self.die.choice("xyz")
        if not outer.exists():
            outer.write_text(self._text())
        return outer

    def write_linked(self) -> None:
        self._outer().write_text(self._text())

    def make(self) -> None:
        self._folder().mkdir(parents=True)
        self.write()

    def move(self) -> None:
        self._folder().rename(self._folder())

    def remake(self) -> None:
        folder = self._folder()
        if folder != self.root:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            (folder / "b.py").write_text(self._text())

    def point(self) -> None:
        file = self._file()
        file.unlink(missing_ok=True)
        file.symlink_to(self.die.choice(("a.py", "../a.py", "/etc/hosts", "nowhere")))

    def pipe(self) -> None:
        os.mkfifo(self._folder() / "pipe.py")

    def rules(self) -> None:
        (self._folder() / ".gitignore").write_text(
            self.die.choice(("*.tmp\nout/\n", "c.py\n", "deep/\n", "\n"))
        )

    def mode(self) -> None:
        self._file().chmod(self.die.choice((0o644, 0o755)))


@pytest.mark.parametrize("seed", range(60))
def test_whatever_programs_do_is_seen(tmp_path: Path, seed: int) -> None:
    followed = Followed(new_repo(tmp_path / "r", FILES), tmp_path)
    churn = Churn(followed.root, seed)
    done = []
    for number in range(25):
        done.append(churn.step())
        if churn.die.random() < 0.6 or number == 24:
            followed.look(settled=churn.die.random() < 0.8)
            if churn.die.random() < 0.8 or number == 24:
                followed.look()
                followed.check(" ".join(done))
    assert followed.tree.unfollowed == ""
    followed.tree.unfollow()


def test_more_events_than_the_kernel_keeps_mean_a_look_at_everything(followed: Followed) -> None:
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if most > 40_000:
        pytest.skip("the queue of this kernel is too long to be filled")
    for number in range(most // 3 + 100):  # each makes three events
        (followed.root / f"{number}.tmp").write_text("")
    (followed.root / "pkg/deep/late.py").write_text("late = 1\n")
    followed.look()
    assert "pkg/deep/late.py" in followed.known
    followed.check()
    (followed.root / "pkg/deep/late.py").write_text("late = 2\n")
    followed.look()
    followed.check()


def test_the_file_that_proves_the_queue_may_be_deleted(followed: Followed, tmp_path: Path) -> None:
    (tmp_path / "cookie").unlink()
    (followed.root / "a.py").write_text("a = 2\n")
    followed.look()
    followed.check()
    assert followed.tree.unfollowed == ""


def test_without_enough_watches_everything_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "_MOST_DIRECTORIES", 1)
    followed = Followed(new_repo(tmp_path / "r", FILES), tmp_path)
    assert "directories" in followed.tree.unfollowed
    (followed.root / "pkg/deep/c.py").write_text("c = 2\n")
    followed.look()
    followed.check()


def test_events_of_file_systems_that_others_write_to_are_not_relied_on(tmp_path: Path) -> None:
    found = events.Events(Path("/proc"), tmp_path / "cookie")
    assert "type proc" in found.problem and found.take() is None
    found.close()
