"""A cold index of Django's sources, against parsing alone; then one edit."""

import gc
import resource
import tempfile
import threading
import time
from pathlib import Path

import psutil
import tree_sitter
import tree_sitter_python

from bench.corpora import python_package
from bench.measure import Figure
from codeplane.git import open_repository
from codeplane.index import Index, Workers
from codeplane.truth import WorkingTree


def figures() -> list[Figure]:
    root = python_package("django", "5.2")
    sources = [file.read_bytes() for file in sorted(root.rglob("*.py"))]
    size = sum(map(len, sources))
    parse = _parse_only(sources)
    with tempfile.TemporaryDirectory(prefix="cpl-") as base:
        run = _Run(root, Path(base) / "index.db")
        edit = run.edit()
        told = f"{run.cpu:.2f} s; parsing alone {parse:.2f} s ({len(sources)} .py files, {size / 1e6:.1f} MB)"
        made = [
            Figure("cold index, CPU", run.cpu / parse, "×", 2.5, told),
            Figure("cold index, wall", run.wall / parse, "×", 1.5, f"{run.wall:.2f} s with two workers"),
            Figure("cold index, memory", run.memory / 1e6, "MB", 300, "most PSS of all processes"),
            Figure("index.db", run.size / size, "×", 2, f"{run.size / 1e6:.1f} MB"),
            Figure("one edit until it is seen", edit * 1000, "ms", 50, "2,000 lines, median of 7"),
        ]
        run.close()
    return made


def _parse_only(sources: list[bytes]) -> float:
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_python.language()))
    gc.disable()
    started = time.process_time()
    for source in sources:
        parser.parse(source)
    spent = time.process_time() - started
    gc.enable()
    return spent


class _Run:
    """One cold pass, watched."""

    def __init__(self, root: Path, file: Path) -> None:
        self._root = root
        self._workers = Workers(2)
        self.memory = 0.0
        self._done = threading.Event()
        watch = threading.Thread(target=self._watch)
        before, children = time.process_time(), _children_cpu()
        started = time.perf_counter()
        watch.start()
        tree = WorkingTree(root, open_repository(root, trusted=False), trusted=False)
        self._index = Index.open(file, tree, self._workers)
        self._index.refresh()
        self.wall = time.perf_counter() - started
        self._workers.close()
        self.cpu = time.process_time() - before + _children_cpu() - children
        self._done.set()
        watch.join()
        self.size = file.stat().st_size

    def edit(self) -> float:
        target = self._root / "bench_edit.py"
        spent = []
        try:
            for number in range(8):
                lines = [f"def f{n}(a):\n    return a + {number}\n" for n in range(1000)]
                target.write_text("".join(lines))
                started = time.perf_counter()
                self._index.refresh()
                spent.append(time.perf_counter() - started)
        finally:
            target.unlink()
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
