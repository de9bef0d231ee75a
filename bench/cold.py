"""A cold index of real sources, against parsing alone; one edit; and growth."""

import gc
import random
import resource
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psutil

from bench.corpora import npm_package, python_package
from bench.measure import Figure
from codeplane.git import open_repository
from codeplane.index import Workers
from codeplane.languages.query import parser_of
from codeplane.names import Index
from codeplane.working_tree import WorkingTree

RUNS = 5


class Corpus(NamedTuple):
    name: str
    root: Path
    ending: str
    language: str  # whose grammar parses it
    # In units of parsing alone: reading is Python over query files, and Django has many names for its size.
    most_cpu: float = 5.5
    most_wall: float = 3


def figures() -> Iterator[Figure]:
    django = Corpus("Django", python_package("django", "5.2"), ".py", "python", most_cpu=9, most_wall=5)
    sympy = Corpus("SymPy", python_package("sympy", "1.14.0"), ".py", "python")
    effect = Corpus("effect", npm_package("effect", "4.1.0"), ".ts", "typescript")
    yield from _figures(django, edits=True)
    yield from _figures(sympy)
    yield from _figures(effect)
    yield from _growth([django, sympy])


def _figures(corpus: Corpus, edits: bool = False) -> Iterator[Figure]:
    sources = _sources(corpus)
    size = sum(map(len, sources))
    parse = parse_only(sources, corpus.language)
    with tempfile.TemporaryDirectory(prefix="cpl-") as base:
        run, wall = _median_run(corpus.root, Path(base))
        told = f"{run.cpu:.2f} s; parsing alone {parse:.2f} s ({len(sources)} files, {size / 1e6:.1f} MB)"
        yield Figure(f"{corpus.name}, CPU", run.cpu / parse, "×", corpus.most_cpu, told)
        told = f"{wall:.2f} s with two workers, median of {RUNS}"
        yield Figure(f"{corpus.name}, wall", wall / parse, "×", corpus.most_wall, told)
        yield Figure(f"{corpus.name}, memory", run.memory / 1e6, "MB", 300, "most PSS of all processes")
        yield Figure(f"{corpus.name}, index.db", run.size / size, "×", 2, f"{run.size / 1e6:.1f} MB")
        if edits:
            for told, text in _edited(corpus.root).items():
                spent = run.edit(Path(base), text)
                bound = 50 if "code" in told else None
                yield Figure("one edit until it is seen", spent * 1000, "ms", bound, f"{told}, median of 7")
        run.close()


def _edited(root: Path) -> dict[str, str]:
    """2,000 lines each: as they are written, and with as many definitions as there can be."""
    [file] = root.glob("*/django/db/models/query.py")
    written = "".join(file.read_text().splitlines(keepends=True)[:2000])
    dense = "".join(f"def f{n}(a):\n    return a + 1\n" for n in range(1000))
    return {"2,000 lines of Django's code": written, "1,000 functions of two lines": dense}


def _median_run(root: Path, base: Path) -> tuple["Run", float]:
    """The last of some cold passes, with the medians of the CPU and the wall times of all."""
    walls, cpus = [], []
    for number in range(RUNS):
        run = Run(root, base / str(number) / "index.db")
        walls.append(run.wall)
        cpus.append(run.cpu)
        if number + 1 < RUNS:
            run.close()
    run.cpu = statistics.median(cpus)
    return run, statistics.median(walls)


def _growth(corpora: list[Corpus]) -> Iterator[Figure]:
    """CPU for each MB as the repository grows; the files are drawn evenly from all of the corpora."""
    sources = [source for corpus in corpora for source in _sources(corpus)]
    random.Random(1).shuffle(sources)
    first = 0.0
    for megabytes in (1, 5, 15, 45):
        with tempfile.TemporaryDirectory(prefix="cpl-") as base:
            root = Path(base) / "repo"
            size = _fill(root, sources, megabytes * 1_000_000)
            run = Run(root, Path(base) / "index.db")
            run.close()
        each = run.cpu / size * 1e6
        first = first or each
        bound = 1.5 if megabytes > 1 else None
        yield Figure(f"CPU per MB at {size / 1e6:.0f} MB", each / first, "×", bound, f"{each:.2f} s")


def _sources(corpus: Corpus) -> list[bytes]:
    return [file.read_bytes() for file in sorted(corpus.root.rglob(f"*{corpus.ending}"))]


def _fill(root: Path, sources: list[bytes], wanted: int) -> int:
    size = 0
    for number, source in enumerate(sources):
        if size >= wanted:
            break
        folder = root / f"part{number // 50}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"file{number}.py").write_bytes(source)
        size += len(source)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return size


def parse_only(sources: list[bytes], language: str) -> float:
    parser = parser_of(language)
    gc.disable()
    started = time.process_time()
    for source in sources:
        parser.parse(source)
    spent = time.process_time() - started
    gc.enable()
    return spent


class Run:
    """One cold pass, watched."""

    def __init__(self, root: Path, file: Path) -> None:
        self._root = root
        file.parent.mkdir(exist_ok=True)
        self._workers = Workers(2)
        self.memory = 0.0
        self._done = threading.Event()
        watch = threading.Thread(target=self._watch)
        before, children = time.process_time(), _children_cpu()
        started = time.perf_counter()
        watch.start()
        self._tree = WorkingTree(root, open_repository(root, trusted=False))
        self._index = Index.open(file, self._tree, self._workers)
        self._index.refresh()
        self.wall = time.perf_counter() - started
        self._workers.close()
        self.cpu = time.process_time() - before + _children_cpu() - children
        self._done.set()
        watch.join()
        self.size = sum(part.stat().st_size for part in file.parent.glob(f"{file.name}*"))

    def edit(self, beside: Path, text: str) -> float:
        """As a server sees it, where the events of the tree are followed."""
        target = self._root / "bench_edit.py"
        spent = []
        self._tree.follow(beside)
        self._index.refresh()
        try:
            for number in range(8):
                target.write_text(f"{text}\nchanged = {number}\n")
                started = time.perf_counter()
                self._index.refresh(followed=True)
                spent.append(time.perf_counter() - started)
        finally:
            target.unlink()
            self._tree.unfollow()
        # The first edit starts the worker.
        return sorted(spent[1:])[3]

    def close(self) -> None:
        self._index.close()
        self._workers.close()

    def _watch(self) -> None:
        own = psutil.Process()
        while not self._done.wait(0.1):
            try:
                family = [own, *own.children(recursive=True)]
                self.memory = max(self.memory, sum(p.memory_full_info().pss for p in family))
            except psutil.Error:
                continue


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
