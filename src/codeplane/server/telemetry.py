"""What the server counts, in Prometheus form."""

import time
from collections.abc import Mapping
from functools import cache
from typing import Any

import psutil
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from codeplane import __version__
from codeplane.ledger import Tasks
from codeplane.session import RepoSession

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


class Telemetry:
    """Counters of one server. Each has its own registry, so two in one process do not mix."""

    def __init__(self, repo: RepoSession) -> None:
        self.registry = CollectorRegistry()
        self.last_error: dict[str, object] | None = None
        self._calls = Counter(
            "codeplane_tool_calls",
            "Tool calls by outcome.",
            ["tool", "outcome"],
            registry=self.registry,
        )
        self._seconds = Histogram(
            "codeplane_tool_call_seconds",
            "Duration of tool calls.",
            ["tool"],
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.running = Gauge(
            "codeplane_tool_calls_running", "Tool calls in progress.", registry=self.registry
        )
        sessions = Gauge("codeplane_sessions_open", "Open sessions.", registry=self.registry)
        sessions.set_function(lambda: len(repo.sessions))
        uptime = Gauge("codeplane_uptime_seconds", "Time since the start.", registry=self.registry)
        uptime.set_function(repo.uptime_sec)
        build = Gauge("codeplane_build_info", "Version.", ["version"], registry=self.registry)
        build.labels(__version__).set(1)
        self.registry.register(_Resources())
        self.registry.register(_Tasks(repo.tasks))

        self._by_outcome = cache(self._calls.labels)
        self._by_tool = cache(self._seconds.labels)

    def count(self, tool: str, outcome: str, seconds: float) -> None:
        self._by_outcome(tool, outcome).inc()
        self._by_tool(tool).observe(seconds)

    def note_error(self, name: str, message: str) -> None:
        self.last_error = {"name": name, "message": message, "at_ms": int(time.time() * 1000)}

    def render(self) -> bytes:
        return generate_latest(self.registry)


class _Tasks(Collector):
    """How tasks begin and end, which limits they run into, and how often one goes round in circles."""

    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks

    def collect(self) -> list[Metric]:
        tally = self._tasks.tally
        now = GaugeMetricFamily("codeplane_tasks_open", "Open tasks.", value=len(self._tasks.on_record()))
        tasks_opened = CounterMetricFamily("codeplane_tasks_opened", "Tasks started.", value=tally.opened)
        tasks_closed = _counts("tasks_closed", "Tasks ended.", "state", tally.closed)
        refusals = _counts("budget_refusals", "Calls beyond a limit.", "budget", tally.refused)
        family = _counts("flags", "Changes and failures without progress.", "flag", tally.flagged)
        return [now, tasks_opened, tasks_closed, refusals, family]


def _counts(name: str, text: str, label: str, counters: Mapping[Any, int]) -> CounterMetricFamily:
    family = CounterMetricFamily(f"codeplane_{name}", text, labels=[label])
    for value, count in sorted(counters.items()):
        family.add_metric([value], count)
    return family


class _Resources(Collector):
    """Memory, CPU and open files of this process, read when asked."""

    def __init__(self) -> None:
        self._process = psutil.Process()

    def collect(self) -> list[GaugeMetricFamily]:
        with self._process.oneshot():
            cpu = self._process.cpu_times()
            return [
                _gauge("resident_memory_bytes", "Memory in use.", self._process.memory_info().rss),
                _gauge("cpu_seconds", "CPU time used.", cpu.user + cpu.system),
                _gauge("open_files", "Open file handles.", self._process.num_fds()),
                _gauge("threads", "Threads.", self._process.num_threads()),
            ]


def _gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"codeplane_process_{name}", text, value=value)
