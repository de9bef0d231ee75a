"""Looks at what has happened alone find the same as looks at everything."""

import ctypes
import errno
import mmap
import os
import random
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from codeplane.core.errors import ContentChanged, PathRefused
from codeplane.core.paths import RepoPath
from codeplane.working_tree import Known, WorkingTree, known
from codeplane.working_tree.watch import events
from tests.drive import git, new_repo
from tests.index.conftest import tree_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="events are followed on Linux")

FILES = {".gitignore": "*.tmp\nout/\n", "a.py": "a = 1\n", "pkg/b.py": "b = 1\n", "pkg/deep/c.py": "c = 1\n"}


class Followed:
    """A tree whose events are followed, and what is known of it."""

    def __init__(self, root: Path, base: Path) -> None:
        self.root = root
        self.tree = tree_of(root)
        assert self.tree.follow(base) == ""
        self.known: dict[RepoPath, Known] = {}
        self.look()

    def look(self, *, settled: bool = True) -> None:
        delta = self.tree.reconcile(self.known, followed=True)
        if settled:
            self.known = delta.applied_to(self.known)
            self.tree.settle()

    def digests(self) -> dict[RepoPath, str]:
        return {path: known.digest for path, known in self.known.items()}

    def sees(self) -> None:
        """The next look finds what a look at everything finds."""
        self.look()
        self.check()

    def check(self, why: str = "") -> None:
        fresh = tree_of(self.root).reconcile({})
        assert self.digests() == {path: known.digest for path, known in fresh.added.items()}, why


@pytest.fixture
def followed(tmp_path: Path) -> Followed:
    return Followed(new_repo(tmp_path / "r", FILES), tmp_path)


def asked(tree: WorkingTree, known: dict[RepoPath, Known], monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The paths in the tree that a look opens or whose stat it asks for."""
    paths: set[str] = set()
    lstat, opened = os.lstat, tree.jail.open

    def spy_lstat(path: str, *, dir_fd: int | None = None) -> os.stat_result:
        paths.add(str(path).removeprefix(f"{tree.jail.root}/"))
        return lstat(path, dir_fd=dir_fd)

    def spy_open(path: RepoPath, *, directory: bool = False, root: int = -1) -> int:
        paths.add(path)
        return opened(path, directory=directory, root=root)

    with monkeypatch.context() as patched:
        patched.setattr(os, "lstat", spy_lstat)
        patched.setattr(tree.jail, "open", spy_open)
        tree.reconcile(known, followed=True)
    return {path for path in paths if path.endswith(".py") or "." not in path}


def test_where_nothing_happened_nothing_is_asked_for(
    followed: Followed, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asked(followed.tree, followed.known, monkeypatch) == set()
    (followed.root / "pkg/b.py").write_text("b = 2\n")
    assert asked(followed.tree, followed.known, monkeypatch) == {"pkg/b.py"}
    # Until it is settled it is looked at again.
    assert asked(followed.tree, followed.known, monkeypatch) == {"pkg/b.py"}
    followed.look()
    assert asked(followed.tree, followed.known, monkeypatch) == set()
    followed.tree.doubt()
    assert {"a.py", "pkg/b.py", "pkg/deep/c.py"} <= asked(followed.tree, followed.known, monkeypatch)


def exchange(one: Path, other: Path) -> None:
    """Lets two paths change places at one moment."""
    ctypes.CDLL(None).renameat2(-100, os.fsencode(one), -100, os.fsencode(other), 2)


class Churn:
    """Everything that programs do to trees, by the roll of a die."""

    def __init__(self, tree: WorkingTree, seed: int) -> None:
        self.tree, self.root, self.die = tree, tree.jail.root, random.Random(seed)
        self.outside = self.root.parent / f"outside{seed}"
        self.outside.mkdir()

    def step(self) -> str:
        work = self.die.choice(
            (
                *(self.write, self.write, self.append, self.swap, self.drop, self.link, self.write_linked),
                *(self.make, self.move, self.remake, self.point, self.pipe, self.rules, self.mode),
                *(
                    self.name_twice,
                    self.exchange,
                    self.map,
                    self.cut,
                    self.away,
                    self.back,
                    self.copy_by_links,
                ),
                *(self.hide, self.nest, self.ask),
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
        file.symlink_to(self.die.choice(("a.py", "../a.py", str(self.outside / "x"), "nowhere")))

    def pipe(self) -> None:
        os.mkfifo(self._folder() / "pipe.py")

    def rules(self) -> None:
        (self._folder() / ".gitignore").write_text(
            self.die.choice(("*.tmp\nout/\n", "c.py\n", "deep/\n", "\n"))
        )

    def mode(self) -> None:
        self._file().chmod(self.die.choice((0o644, 0o755)))

    def name_twice(self) -> None:
        (self.root / self.die.choice(("a.py", "b.py", "d.tmp"))).hardlink_to(self._file())

    def copy_by_links(self) -> None:
        shutil.copytree(self.root / "pkg/deep", self.root / "new", copy_function=os.link, symlinks=True)

    def exchange(self) -> None:
        exchange(*self.die.choice(((self._folder(), self._folder()), (self._file(), self._file()))))

    def map(self) -> None:
        with self._file().open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
            mapped[0] = self.die.randint(97, 122)

    def cut(self) -> None:
        os.truncate(self._file(), self.die.randint(0, 9))

    def away(self) -> None:
        folder = self._folder()
        if folder != self.root:
            folder.rename(self.outside / "away")
            (self.outside / "away" / "b.py").write_text(self._text())

    def back(self) -> None:
        (self.outside / "away").rename(self._folder())

    def hide(self) -> None:
        """As a program does that wants to leave no trace in the time stamps."""
        file = self._file()
        before = file.stat()
        file.write_text(self._text())
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    def nest(self) -> None:
        made = self._folder() / "sub" / ".git"
        made.mkdir(parents=True, exist_ok=True)
        (made.parent / "own.py").write_text(self._text())
        if self.die.random() < 0.5:
            (made / "HEAD").write_text("ref: refs/heads/main\n")

    def ask(self) -> None:
        self.tree.why_absent(RepoPath("pkg/none.py"))


@pytest.mark.parametrize("seed", range(40))
def test_whatever_programs_do_is_seen(tmp_path: Path, seed: int) -> None:
    followed = Followed(new_repo(tmp_path / "r", FILES), tmp_path)
    churn = Churn(followed.tree, seed)
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
    found = events.Events(Path("/proc"), tmp_path)
    assert "type proc" in found.problem and found.take() is None
    found.close()


def test_where_no_file_can_be_made_nothing_is_left_open(followed: Followed, tmp_path: Path) -> None:
    followed.tree.unfollow()
    before = len(os.listdir("/proc/self/fd"))
    assert followed.tree.follow(tmp_path / "nowhere") != ""
    assert len(os.listdir("/proc/self/fd")) == before
    (followed.root / "a.py").write_text("a = 2\n")
    followed.sees()


def test_a_descriptor_may_have_any_number(followed: Followed, tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    followed.tree.unfollow()
    opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        assert followed.tree.follow(tmp_path) == ""
        followed.look()
        assert not followed.tree.stirs(0)
        (followed.root / "a.py").write_text("a = 2\n")
        assert followed.tree.stirs(0)
    finally:
        for fd in opened:
            os.close(fd)
        followed.tree.unfollow()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_look_that_began_before_events_were_followed_has_nothing_watched(
    followed: Followed, tmp_path: Path
) -> None:
    followed.tree.unfollow()
    delta = followed.tree.reconcile(followed.known, followed=True)
    assert followed.tree.follow(tmp_path) == ""
    followed.known = delta.applied_to(followed.known)
    followed.tree.settle()
    followed.look()
    (followed.root / "pkg/b.py").write_text("b = 2\n")
    followed.sees()


@pytest.mark.parametrize("name", ["pkg/z.py", "z.tmp"])
def test_a_file_that_gets_a_second_name_may_be_written_through_it(followed: Followed, name: str) -> None:
    (followed.root / name).hardlink_to(followed.root / "a.py")
    followed.sees()
    (followed.root / name).write_text("a = 2\n")
    followed.sees()
    # The same name is one of another file now.
    (followed.root / name).unlink()
    (followed.root / name).hardlink_to(followed.root / "pkg/b.py")
    followed.sees()
    (followed.root / name).write_text("b = 2\n")
    followed.sees()


def test_a_mapping_may_be_written_to_without_a_new_time_stamp(
    followed: Followed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known, "RACY_NS", 0)
    with (followed.root / "a.py").open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[0] = ord("b")
        followed.tree.doubt()
        followed.sees()
        mapped[0] = ord("c")
    followed.sees()


def test_a_file_that_was_opened_before_it_had_a_name_is_written_to(followed: Followed) -> None:
    fd = os.open(followed.root, os.O_TMPFILE | os.O_RDWR)
    with os.fdopen(fd, "wb", buffering=0) as file:
        file.write(b"x = 1\n")
        path = os.fsencode(followed.root / "named.py")
        assert ctypes.CDLL(None).linkat(-100, b"/proc/self/fd/%d" % fd, -100, path, 0x400) == 0
        followed.sees()
        file.write(b"y = 1\n")
    followed.sees()


def test_a_change_that_no_event_told_is_looked_at_once_a_read_has_met_it(
    followed: Followed, tmp_path: Path
) -> None:
    path, other = RepoPath("pkg/b.py"), tmp_path / "outside.py"
    other.hardlink_to(followed.root / path)
    other.write_text("b = 3\n")
    with pytest.raises(ContentChanged):
        followed.tree.read(path, expected=followed.known[path].digest)
    followed.sees()


def test_names_that_were_asked_for_between_two_looks_are_compared(followed: Followed) -> None:
    (followed.root / "kept.tmp").write_text("kept = 1\n")
    followed.sees()
    git(followed.root, "add", "-f", "kept.tmp")
    followed.tree.why_absent(RepoPath("none.py"))
    followed.sees()
    git(followed.root, "rm", "-q", "--cached", "kept.tmp")
    followed.tree.reconcile({})
    followed.sees()


def test_a_repository_is_nested_from_the_moment_on_when_it_is_one(followed: Followed) -> None:
    (followed.root / "sub/.git").mkdir(parents=True)
    (followed.root / "sub/own.py").write_text("own = 1\n")
    followed.sees()
    assert "sub/own.py" in followed.known
    (followed.root / "sub/.git/HEAD").write_text("ref: refs/heads/main\n")
    followed.sees()
    assert "sub/own.py" not in followed.known


def test_what_was_written_while_nobody_watched_is_compared(followed: Followed) -> None:
    (followed.root / "new").mkdir()
    (followed.root / "new/a.py").write_text("a = 1\n")
    followed.sees()
    (followed.root / ".gitignore").write_text("new/\n")
    followed.look(settled=False)
    (followed.root / "new/a.py").write_text("a = 2\n")
    (followed.root / ".gitignore").write_text("")
    followed.sees()


def test_a_tree_may_be_moved_away_and_back(followed: Followed, tmp_path: Path) -> None:
    followed.root.rename(tmp_path / "away")
    followed.look(settled=False)
    (tmp_path / "away/pkg/b.py").write_text("b = 2\n")
    (tmp_path / "away").rename(followed.root)
    followed.sees()


def test_another_tree_in_the_place_of_a_directory_above_is_seen(tmp_path: Path) -> None:
    (tmp_path / "above").mkdir()
    followed = Followed(new_repo(tmp_path / "above/r", FILES), tmp_path)
    (tmp_path / "above").rename(tmp_path / "before")
    shutil.copytree(tmp_path / "before", tmp_path / "above")
    (followed.root / "a.py").write_text("a = 2\n")
    followed.sees()
    (followed.root / "pkg/b.py").write_text("b = 2\n")
    followed.sees()
    followed.tree.unfollow()


def test_after_a_look_that_failed_midway_nothing_is_lost(
    followed: Followed, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.scandir

    def scandir(place: int | str) -> Iterator["os.DirEntry[str]"]:
        if isinstance(place, int):
            raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))
        return real(place)

    (followed.root / "pkg/new.py").write_text("new = 1\n")
    with monkeypatch.context() as patched, pytest.raises(OSError, match="memory"):
        patched.setattr(os, "scandir", scandir)
        followed.look()
    followed.sees()


def test_a_directory_that_could_not_be_opened_is_tried_again(
    followed: Followed, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = followed.tree.jail.open

    def refuse(path: RepoPath, *, directory: bool = False, root: int = -1) -> int:
        if path == "pkg":
            raise PathRefused("Too many open files.")
        return real(path, directory=directory, root=root)

    (followed.root / "pkg/new.py").write_text("new = 1\n")
    with monkeypatch.context() as patched:
        patched.setattr(followed.tree.jail, "open", refuse)
        followed.look()
    assert "pkg/b.py" not in followed.known
    followed.sees()


@pytest.fixture
def mount() -> Iterator[Callable[..., None]]:
    """Mounts; needs the rights to."""
    points: list[Path] = []

    def work(*arguments: str | Path) -> None:
        if os.geteuid() or subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode:
            pytest.skip("nothing can be mounted here")
        points.append(Path(arguments[-1]))

    yield work
    for point in reversed(points):
        subprocess.run(["umount", point], check=True)


def test_a_file_that_is_mounted_over_another_is_looked_at_always(
    followed: Followed, tmp_path: Path, mount: Callable[..., None]
) -> None:
    (tmp_path / "other").write_text("other = 1\n")
    mount("--bind", tmp_path / "other", followed.root / "a.py")
    followed.sees()
    assert "mounted" in followed.tree.unfollowed
    (tmp_path / "other").write_text("other = 2\n")
    followed.sees()


def test_a_directory_that_is_mounted_in_two_places_is_looked_at_always(
    followed: Followed, mount: Callable[..., None]
) -> None:
    (followed.root / "two").mkdir()
    followed.sees()
    mount("--bind", followed.root / "pkg", followed.root / "two")
    followed.sees()
    for name in ("pkg/b.py", "two/b.py"):
        (followed.root / name).write_text(f"{name[0]} = 2\n")
        followed.sees()


def test_what_is_mounted_where_nothing_is_listed_does_not_matter(
    followed: Followed, mount: Callable[..., None]
) -> None:
    (followed.root / "out").mkdir()
    mount("-t", "tmpfs", "none", followed.root / "out")
    followed.sees()
    assert followed.tree.unfollowed == ""
    mount("-t", "tmpfs", "none", followed.root / "pkg")
    followed.sees()
    (followed.root / "pkg/b.py").write_text("b = 2\n")
    followed.sees()
    assert followed.tree.unfollowed != ""
