"""What the first question about surfaces costs a server that has prepared them, and one that has not.

python -m bench surfaces_cost, or python -m bench.surfaces_cost PATH... (directories)
"""

import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import psutil

from bench.corpora import python_package
from bench.economy import suite_environment
from bench.measure import Figure, ask

EDITS: Final = 50
_FIRST_SEC: Final = 0.5
_AGAIN_MS: Final = 50.0
_LONGEST_SEC: Final = 300.0
_MOST_GROWN: Final = 1.1
_QUESTION: Final[dict[str, Any]] = {"name": "surfaces_list_endpoints", "arguments": {}}
_OTHER: Final[dict[str, Any]] = {"name": "search", "arguments": {"query": "request"}}


class Measured(NamedTuple):
    """The figures of one repository."""

    cold_sec: float  # the first question of a server that has not prepared anything
    prepared_sec: float  # of one that has
    cpu_sec: float  # of the first preparation
    again_cpu_sec: float  # of that of the next server
    index_cpu_sec: float  # of the first index
    edited_ms: list[float]  # questions with an edit before each, of a file that no answer rests on
    route_edited_ms: list[float]  # the same, of a file with routes
    other_ms: list[float]  # other calls while it was prepared
    alone_ms: list[float]  # the same afterwards
    grown: float  # the index, in parts of what it was
    memory_mb: float  # that the preparation leaves


class Server:
    """A server over stdio, with a home of its own."""

    def __init__(self, root: Path, home: Path, *, ahead: bool) -> None:
        self.root = root
        self._before = self._preparations()
        setting = f"index.surfaces_ahead={str(ahead).lower()}"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "codeplane", "mcp", "--profile", "full", "--set", setting],
            cwd=root,
            env={**suite_environment(home), "TMPDIR": str(home), "PYTHONPATH": ""},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        ask(self.process, "tools/list", {}, 0)  # a client that has the tools

    def call(self, call: dict[str, Any]) -> tuple[float, str]:
        """Seconds until the answer, and its text."""
        began = time.perf_counter()
        answer = ask(self.process, "tools/call", call, 1)
        spent = time.perf_counter() - began
        assert "result" in answer and not answer["result"].get("isError"), answer
        return spent, answer["result"]["content"][0]["text"]

    def wait_for_index(self) -> None:
        for _ in range(600):
            if "index ready" in self.call({"name": "describe", "arguments": {}})[1]:
                return
            time.sleep(0.25)

    def cpu(self) -> float:
        """CPU of the server and of processes that it has started and waited for."""
        times = psutil.Process(self.process.pid).cpu_times()
        return times.user + times.system + times.children_user + times.children_system

    def memory_mb(self) -> float:
        return psutil.Process(self.process.pid).memory_info().rss / 1e6

    def wait_for_answers(self) -> list[float]:
        """Waits until surfaces are prepared; gives what other calls took meanwhile, in milliseconds."""
        times = []
        due = time.monotonic() + _LONGEST_SEC
        while self._preparations() <= self._before and time.monotonic() < due:
            times.append(self.call(_OTHER)[0] * 1000)
            time.sleep(0.05)
        self._before += 1
        return times

    def _preparations(self) -> int:
        logs = (self.root / ".codeplane" / "logs").glob("*.jsonl*")
        return sum(log.read_text().count("surfaces are prepared") for log in logs)

    def close(self) -> None:
        self.process.terminate()
        self.process.communicate()


def figures() -> Iterator[Figure]:
    for name, version in (("prefect", "3.9.0"), ("django", "5.2")):
        yield from _figures(name, measure(python_package(name, version)))


def _figures(name: str, one: Measured) -> Iterator[Figure]:
    told = f"{one.cold_sec:.2f} s where nothing is prepared"
    yield Figure(f"{name}, first question", one.prepared_sec, "s", _FIRST_SEC, told)
    told = f"p95 of {EDITS}, median {statistics.median(one.edited_ms):.1f} ms"
    yield Figure("  after an edit", _p95(one.edited_ms), "ms", _AGAIN_MS, told)
    told = f"p95, median {statistics.median(one.route_edited_ms):.1f} ms: routes are read again"
    yield Figure("  after an edit of routes", _p95(one.route_edited_ms), "ms", None, told)
    told = (
        f"p95 of {len(one.other_ms)}; {_p95(one.alone_ms):.1f} ms afterwards; most {max(one.other_ms):.1f} ms"
    )
    yield Figure("  other calls meanwhile", _p95(one.other_ms), "ms", None, told)
    told = f"the index {one.index_cpu_sec:.1f} s; the next server {one.again_cpu_sec:.1f} s"
    yield Figure("  CPU of preparing", one.cpu_sec, "s", None, told)
    bound = _MOST_GROWN if name == "django" else None
    yield Figure("  index with sites", one.grown, "×", bound, "of the index without")
    yield Figure("  memory that stays", one.memory_mb, "MB", None, "resident, after preparing")


def measure(source: Path) -> Measured:
    """One repository, in a copy of its own for each way."""
    with _copy(source) as (root, home):
        with _serving(root, home, ahead=False) as server:
            server.wait_for_index()
            cold, _ = server.call(_QUESTION)
    with _copy(source) as (root, home):
        with _serving(root, home, ahead=False) as server:
            server.wait_for_index()
            index_cpu = server.cpu()
        size = _index_bytes(root)
        with _serving(root, home, ahead=False) as server:
            server.wait_for_index()
            server.call(_OTHER)
            start_cpu, start_memory = server.cpu(), server.memory_mb()
        with _serving(root, home, ahead=True) as server:
            began = server.wait_for_answers()
            cpu, memory = server.cpu() - start_cpu, server.memory_mb() - start_memory
            alone = [server.call(_OTHER)[0] * 1000 for _ in range(len(began) or 1)]
            prepared, _ = server.call(_QUESTION)
            plain, routes = _files(root, server)
            edited = [_edited(server, plain, number) for number in range(EDITS)]
            route_edited = [_edited(server, routes, number) for number in range(10)] if routes else [0.0]
        grown = _index_bytes(root) / size
        with _serving(root, home, ahead=True) as server:
            server.wait_for_answers()
            again = server.cpu() - start_cpu
    return Measured(
        cold, prepared, cpu, again, index_cpu, edited, route_edited, began or [0.0], alone, grown, memory
    )


def _edited(server: Server, file: Path, number: int) -> float:
    """A question after a line was added to a file, in milliseconds."""
    with file.open("a") as target:
        target.write(f"# {number}\n")
    return server.call(_QUESTION)[0] * 1000


def _files(root: Path, server: Server) -> tuple[Path, Path | None]:
    """A file that no answer rests on, and one with a route."""
    plain = root / "bench_edit.py"
    plain.write_text("def plain():\n    return 1\n")
    text = server.call(_QUESTION)[1]
    found = re.search(r"\(([^():]+\.py):\d+\)", text)
    return plain, root / found[1] if found else None


def _p95(times: list[float]) -> float:
    return sorted(times)[max(0, int(len(times) * 0.95) - 1)]


def _index_bytes(root: Path) -> int:
    return sum(file.stat().st_size for file in (root / ".codeplane").glob("index.db*"))


@contextmanager
def _serving(root: Path, home: Path, *, ahead: bool) -> Iterator[Server]:
    server = Server(root, home, ahead=ahead)
    try:
        yield server
    finally:
        server.close()


@contextmanager
def _copy(source: Path) -> Iterator[tuple[Path, Path]]:
    with tempfile.TemporaryDirectory(prefix="cpl-") as base:
        root, home = Path(base) / "repo", Path(base) / "home"
        home.mkdir()
        shutil.copytree(source, root, ignore=shutil.ignore_patterns(".git", ".codeplane"), symlinks=True)
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        yield root, home


def main() -> int:
    missed = 0
    for path in map(Path, sys.argv[1:]):
        for figure in _figures(path.name, measure(path)):
            bound = "" if figure.bound is None else f"≤ {figure.bound:g}"
            print(
                f"{figure.name:<34} {figure.value:>8.2f} {figure.unit:<3} {bound:<7} {figure.detail}",
                flush=True,
            )
            missed += not figure.holds
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
