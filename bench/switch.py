"""The working tree goes to another commit and back: contents that were read before are not read again."""

import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.measure import Figure
from codeplane.git import open_repository
from codeplane.index import Workers
from codeplane.names import Index
from codeplane.working_tree import WorkingTree

FILES = 2000
CHANGED = 100
RUNS = 6


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="cpl-") as base:
        root = Path(base) / "repo"
        _make(root)
        workers = Workers(2)
        tree = WorkingTree(root, open_repository(root, trusted=False))
        index = Index.open(Path(base) / "index.db", tree, workers)
        index.refresh()
        spent = []
        for run in range(RUNS):
            _git(root, "checkout", "-q", "other" if run % 2 == 0 else "main")
            spent.append(_timed(index.refresh))
        commit = _timed(lambda: _visit(index, "other"))
        again = _timed(lambda: _visit(index, "other"))
        index.close()
        workers.close()
    told = f"{CHANGED} of {FILES} files, median"
    return [
        Figure("switch to unseen content", spent[0] * 1000, "ms", None, f"{CHANGED} files are read"),
        Figure("switch to seen content", sorted(spent[1:])[2] * 1000, "ms", 300, told),
        Figure("a commit, first look", commit * 1000, "ms", None, f"{FILES} objects hashed, none extracted"),
        Figure("a commit, again", again * 1000, "ms", None, ""),
    ]


def _visit(index: Index, name: str) -> None:
    with index.commit_snapshot(name) as snapshot:
        assert snapshot.coverage.unread == 0


def _timed(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def _make(root: Path) -> None:
    _git(root.parent, "init", "-q", "-b", "main", str(root))
    _write(root, range(FILES), "one")
    _git(root, "add", "-A")
    _git(root, "commit", "-qm", "one")
    _git(root, "checkout", "-q", "-b", "other")
    _write(root, range(CHANGED), "two")
    _git(root, "commit", "-qam", "two")
    _git(root, "checkout", "-q", "main")


def _write(root: Path, numbers: range, word: str) -> None:
    for n in numbers:
        (root / f"p{n % 50}").mkdir(exist_ok=True)
        lines = [f"def {word}_{n}_{k}(a):\n    return a + {k}\n" for k in range(50)]
        (root / f"p{n % 50}" / f"m{n}.py").write_text("".join(lines))


def _git(root: Path, *arguments: str) -> None:
    author = ["-c", "user.name=bench", "-c", "user.email=bench@example.org"]
    subprocess.run(["git", *author, *arguments], cwd=root, check=True)
