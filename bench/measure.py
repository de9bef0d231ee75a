"""One measured figure, its bound, and the means to measure a process."""

import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

MODERN = "2026-07-28"
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


@dataclass(frozen=True)
class Figure:
    """A figure with what it was measured against; `bound` is None where it is only shown."""

    name: str
    value: float
    unit: str
    bound: float | None
    detail: str

    @property
    def holds(self) -> bool:
        return self.bound is None or self.value <= self.bound


def cpu_seconds(process: "subprocess.Popen[Any]") -> float:
    times = psutil.Process(process.pid).cpu_times()
    return times.user + times.system


def median(measure: Callable[[], float], runs: int) -> float:
    return statistics.median(measure() for _ in range(runs))


def timed(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def message(method: str, params: Mapping[str, Any], number: int) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "id": number,
        "method": method,
        "params": {**params, "_meta": ENVELOPE},
    }


@contextmanager
def scratch() -> Iterator[tuple[Path, dict[str, str]]]:
    """A small repository and an environment of its own."""
    with tempfile.TemporaryDirectory(prefix="cpl-") as base:
        repo = Path(base) / "repo"
        subprocess.run(["git", "init", "-q", str(repo)], check=True)
        (repo / "README.md").write_text("hello\n")
        yield repo, {"PATH": os.environ["PATH"], "HOME": base, "TMPDIR": base}


def ask(process: "subprocess.Popen[bytes]", method: str, params: Mapping[str, Any], number: int) -> Any:
    """One request over the pipes of a stdio server."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(json.dumps(message(method, params, number)).encode() + b"\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())
