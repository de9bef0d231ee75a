"""A look at a working tree in which nothing has changed, against `git status`, in CPU time."""

import os
import resource
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.measure import Figure, median
from codeplane.git import open_repository
from codeplane.working_tree import WorkingTree

RUNS = 15
# Past the span in which time stamps prove nothing.
SETTLE_SEC = 2.5


def figures() -> list[Figure]:
    """The bound is for a tree shaped like Django's, where `git status` has many directories to list.

    A tree with few directories is shown as well: there `git status` does little more than the same calls of
    lstat, from C and without the cost of Python around each.
    """
    with tempfile.TemporaryDirectory(prefix="cpl-") as base:
        like_django, flat = _Tree(Path(base) / "a", _like_django()), _Tree(Path(base) / "b", _flat())
        time.sleep(SETTLE_SEC)
        return [
            *like_django.figures("reconcile, nothing changed", 0.6),
            *like_django.followed_figures(Path(base)),
            *flat.figures("the same, few directories", None),
            *like_django.more_figures(),
        ]


class _Tree:
    def __init__(self, root: Path, names: list[str]) -> None:
        self._root = root
        self._count = len(names)
        _make(root, names)
        self._tree = WorkingTree(root, open_repository(root, trusted=False))

    def figures(self, name: str, bound: float | None) -> list[Figure]:
        self._cold = _own_cpu(lambda: self._tree.reconcile({}))
        self._known = self._tree.reconcile({}).applied_to({})
        # In turn, so that both meet the same machine.
        pairs = [(_status_cpu(self._root), self._again()) for _ in range(RUNS)]
        self._peer, ours = (statistics.median(column) for column in zip(*pairs, strict=True))
        told = f"{ours * 1e3:.0f} ms; git status {self._peer * 1e3:.0f} ms; {self._count} files"
        return [Figure(name, ours / self._peer, "×", bound, told)]

    def followed_figures(self, beside: Path) -> list[Figure]:
        """As a server does it, where the events of the tree are followed."""
        if self._tree.follow(beside):
            return []
        self._tree.reconcile(self._known, followed=True)
        self._tree.settle()
        ours = median(lambda: _own_cpu(lambda: self._tree.reconcile(self._known, followed=True)), RUNS)
        self._tree.unfollow()
        return [
            Figure(
                "the same in a server", ours / self._peer, "×", 0.6, f"{ours * 1e3:.1f} ms; events followed"
            )
        ]

    def more_figures(self) -> list[Figure]:
        (self._root / _like_django()[0]).write_text("changed = True\n")
        edited = median(self._again, RUNS)
        return [
            Figure("the same, one file edited", edited / self._peer, "×", None, f"{edited * 1e3:.0f} ms"),
            Figure(
                "the first look, all read", self._cold / self._peer, "×", None, f"{self._cold * 1e3:.0f} ms"
            ),
        ]

    def _again(self) -> float:
        return _own_cpu(lambda: self._tree.reconcile(self._known))


def _like_django() -> list[str]:
    """6,869 files in about 3,240 directories, as the sdist of Django 5.2 has them."""
    catalogues = [
        f"project/contrib/app{app}/locale/l{language}/LC_MESSAGES/{name}"
        for app in range(20)
        for language in range(60)
        for name in ("messages.mo", "messages.po")
    ]
    sources = [f"project/package{n % 40}/module{n % 800}/file{n}.py" for n in range(6868 - len(catalogues))]
    return catalogues + sources


def _flat() -> list[str]:
    return [f"package{n % 30}/module{n % 480}/file{n}.py" for n in range(6868)]


def _make(root: Path, names: list[str]) -> None:
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / ".gitignore").write_text("*.pyc\nbuild/\n/dist\n")
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"value = {name!r}\n" * 40)
    author = ["-c", "user.name=bench", "-c", "user.email=bench@example.org"]
    subprocess.run(["git", *author, "add", "-A"], cwd=root, check=True)
    subprocess.run(["git", *author, "commit", "-qm", "start"], cwd=root, check=True)


def _own_cpu(action: Callable[[], object]) -> float:
    started = time.process_time()
    action()
    return time.process_time() - started


def _status_cpu(root: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
    subprocess.run(
        ["git", "status", "--porcelain"], cwd=root, env=environment, check=True, capture_output=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
