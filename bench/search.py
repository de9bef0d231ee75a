"""Searches on Django 5.2, in process, against ripgrep over the same tree."""

import os
import resource
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tests.conformance import node

from bench.corpora import indexed, python_package
from bench.measure import Figure
from codeplane.names import Index, Snapshot
from codeplane.search.scope import Scope
from codeplane.search.search import Mode, Shape, begin, plan, show

RUNS = 7
RIPGREP = ("@vscode/ripgrep", "1.18.0")
WORDS = ("QuerySet", "get_queryset", "self", "migration", "ValidationError", "csrf", "timezone", "prefetch")
WITH_LITERAL = (
    r"get_que[a-z]+_set",
    r"ueryse",
    r"def save\(",
    r"raise \w*ValidationError\(",
    r"class .*Mixin\b",
)
WITHOUT = (r"\b[a-z]{3}_\d+\b", r"^\s+@\w+$", r"[A-Z]{12,}")


def figures() -> list[Figure]:
    repo = python_package("django", "5.2")
    with indexed(repo) as index:
        looks = statistics.median(_own_cpu(index.refresh)[1] for _ in range(RUNS))
        return [*_figures(index, repo), Figure("refresh, unchanged", looks * 1e3, "ms", None, "wall")]


def _figures(index: Index, repo: Path) -> list[Figure]:
    with index.snapshot() as snapshot:
        made = [_lexical(snapshot, repo)]
        for name, patterns, bound in (("with a literal", WITH_LITERAL, 1.5), ("without one", WITHOUT, 4.0)):
            made += _patterns(snapshot, repo, name, patterns, bound)
        return made


def _lexical(snapshot: Snapshot, repo: Path) -> Figure:
    """The slowest word counts, each at its median; the peer prints every line with the word."""
    pairs = {}
    for word in WORDS:
        wall = statistics.median(_cost(snapshot, "lexical", word, 20)[1] for _ in range(RUNS))
        pairs[word] = (wall, statistics.median(_ripgrep(repo, "-w", "-i", word)[1] for _ in range(3)))
    return _slowest("word search, top 20", "wall", pairs, 0.1)


def _patterns(
    snapshot: Snapshot, repo: Path, name: str, patterns: tuple[str, ...], bound: float
) -> list[Figure]:
    made = []
    for limit, what in ((20, "first 20"), (1_000_000, "all matches")):
        pairs = {}
        for pattern in patterns:
            cpu = statistics.median(_cost(snapshot, "regex", pattern, limit)[0] for _ in range(3))
            pairs[pattern] = (cpu, statistics.median(_ripgrep(repo, "-e", pattern)[0] for _ in range(3)))
        made.append(_slowest(f"pattern {name}, {what}", "CPU", pairs, bound))
    return made


def _slowest(name: str, kind: str, pairs: dict[str, tuple[float, float]], bound: float) -> Figure:
    text, (ours, peer) = max(pairs.items(), key=lambda pair: pair[1][0] / pair[1][1])
    told = f"{kind}, slowest of {len(pairs)} ({text}): {ours * 1e3:.1f} ms; ripgrep {peer * 1e3:.0f} ms"
    return Figure(name, ours / peer, "×", bound, told)


def _cost(snapshot: Snapshot, mode: Mode, text: str, limit: int) -> tuple[float, float]:
    return _own_cpu(lambda: _search(snapshot, mode, text, limit))


def _search(snapshot: Snapshot, mode: Mode, text: str, limit: int) -> object:
    shape = Shape(mode, limit, "minimal" if limit <= 100 else "none", True)
    return show(snapshot, begin(plan(snapshot, mode, text, Scope()), shape), shape, lambda: None)


def _own_cpu(action: Callable[[], object]) -> tuple[float, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    action()
    return time.process_time() - cpu, time.perf_counter() - wall


def _ripgrep(repo: Path, *arguments: str) -> tuple[float, float]:
    """CPU and wall time of the program."""
    before, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [_program(), "--no-config", "-n", "--color=never", *arguments, "."]
    subprocess.run(command, cwd=repo, stdout=subprocess.DEVNULL, check=False)
    wall = time.perf_counter() - wall
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def _program() -> str:
    found = os.environ.get("RIPGREP") or shutil.which("rg")
    if found:
        return found
    # The program itself is in a package of its own for each kind of machine.
    packed = node.package(*RIPGREP, is_native=True).parent
    program = next((path for path in packed.glob("ripgrep*/bin/rg") if path.is_file()), None)
    if program is None:
        raise node.Unavailable(f"{'@'.join(RIPGREP)} has no rg for this machine; set RIPGREP to one")
    return str(program)
