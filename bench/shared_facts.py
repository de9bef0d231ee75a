"""Facts of Django through a file, against reading them: time, size, and what a pull of a small step costs."""

import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.corpora import python_history
from bench.measure import Figure
from codeplane.config import Places
from codeplane.index import Workers
from codeplane.names import Index
from codeplane.session.checkout import Checkout
from codeplane.session.shared_facts import export_file, import_file, pull_commit, push_commit
from codeplane.working_tree import WorkingTree

_VERSIONS = ("5.2", "5.2.1")
_RUNS = 3


class Spent(NamedTuple):
    """What some work took, child processes included."""

    cpu: float
    wall: float


def figures() -> Iterator[Figure]:
    source = python_history("django", _VERSIONS)
    with tempfile.TemporaryDirectory(prefix="cpl-") as base:
        root = Path(base) / "repo"
        subprocess.run(["git", "clone", "-q", str(source), str(root)], check=True)
        yield from _figures(root, Path(base))


def _figures(root: Path, base: Path) -> Iterator[Figure]:
    checkout = Checkout.find(root, Places.of_user({"HOME": str(base)}))
    file, store = base / "facts.tar", base / "store"
    with _opened(checkout, base / "author.db") as (author, _):
        cold = _measure(lambda: _read_all(author))
        export = _measure(lambda: export_file(checkout, author, _VERSIONS[0], file))
        push_commit(checkout, author, _VERSIONS[0], str(store))
        step = push_commit(checkout, author, _VERSIONS[1], str(store))
    runs, firsts = [], []
    for number in range(_RUNS):
        with _opened(checkout, base / f"reader{number}.db") as (reader, tree):
            runs.append(_measure(lambda: import_file(checkout, reader, tree, file)))
            firsts.append(_measure(reader.refresh))
    taken = sorted(runs)[_RUNS // 2]
    told = f"{taken.cpu:.2f} s of {cold.cpu:.2f} s, median of {_RUNS}"
    yield Figure("import of Django, CPU", taken.cpu / cold.cpu, "× cold", 0.2, told)
    told = f"{taken.wall:.2f} s of {cold.wall:.2f} s with two workers"
    yield Figure("import of Django, wall", taken.wall / cold.wall, "× cold", None, told)
    first = sorted(firsts)[_RUNS // 2]
    told = f"{first.cpu:.2f} s CPU until the working tree is indexed"
    yield Figure("first refresh after it, CPU", first.cpu / cold.cpu, "× cold", None, told)
    told = f"{export.cpu:.2f} s CPU; all but the words is in the index"
    yield Figure("export, CPU", export.cpu / cold.cpu, "× cold", None, told)
    yield Figure(
        "size of the file", file.stat().st_size / 1e6, "MB", None, f"{_size(root) / 1e6:.1f} MB of sources"
    )
    told = f"{step.new_contents} of {step.contents} contents"
    yield Figure("push of the next version", step.bytes / 1e6, "MB", None, told)
    with _opened(checkout, base / "reader0.db") as (reader, tree):
        again = _measure(lambda: pull_commit(checkout, reader, tree.at(_VERSIONS[1]), str(store)))
    yield Figure(
        "pull of the next version, CPU", again.cpu / cold.cpu, "× cold", None, f"{again.wall:.2f} s wall"
    )


@contextmanager
def _opened(checkout: Checkout, file: Path) -> Iterator[tuple[Index, WorkingTree]]:
    tree = WorkingTree(checkout.root, checkout.repository)
    with closing(Workers(2)) as workers, closing(Index.open(file, tree, workers)) as index:
        yield index, tree


def _read_all(index: Index) -> None:
    index.refresh()
    index.workers.close()  # what a child has spent counts when it has ended


def _measure(work: Callable[[], object]) -> Spent:
    cpu, wall = _cpu(), time.perf_counter()
    work()
    return Spent(_cpu() - cpu, time.perf_counter() - wall)


def _cpu() -> float:
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


def _size(root: Path) -> int:
    return sum(path.stat().st_size for path in root.rglob("*") if path.is_file() and ".git" not in path.parts)
