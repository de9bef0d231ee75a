"""What the facts of an indexer cost calls of tools: CPU with them beside CPU without, in one run."""

import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import anyio

from codeplane.config import Places
from codeplane.core.paths import RepoPath
from codeplane.names import DefFact, Snapshot
from codeplane.server.pipeline import Pipeline, Request
from codeplane.session import Checkout, RepoSession
from codeplane.tools import all_tools

SYMBOLS = 60
ROUNDS = 3
_KINDS = ("function", "method", "class", "interface", "field", "property")

Arguments = dict[str, Any]
Medians = dict[tuple[str, str], tuple[float, float]]
"""A tool, and whether it is asked anew or again → seconds without the facts, and with them."""

_CALLS: dict[str, Callable[[DefFact], Arguments]] = {
    "refs_find": lambda symbol: {"symbol": f"{symbol.path}:{symbol.name_line}"},
    "graph_callers": lambda symbol: {"symbol": f"{symbol.path}:{symbol.name_line}", "depth": 3},
    "search": lambda symbol: {"query": symbol.name},
}


class Slowdown(NamedTuple):
    """How much longer the median call of a tool takes with the facts of an indexer."""

    question: str
    ratio: float
    detail: str


def open_session(root: Path) -> RepoSession:
    """A session of its own, with everything read."""
    session = RepoSession.open(Checkout.find(root, Places.of_user({"HOME": str(root.parent)})))
    session.index.refresh()
    return session


def slowdowns(without: Path, root: Path, language: str) -> Iterator[Slowdown]:
    """Asks two copies of a repository, call by call in turn: one `without` the facts, and one with them."""
    quickest: dict[tuple[str, str], tuple[float, float]] = {}
    for _ in range(ROUNDS):
        for key, values in _round_medians(without, root, language).items():
            before = quickest.get(key, values)
            quickest[key] = (min(before[0], values[0]), min(before[1], values[1]))
    for key, (base, value) in quickest.items():
        yield Slowdown(" ".join(key), value / base, f"{value * 1e3:.1f} ms; {base * 1e3:.1f} ms without; CPU")


def _round_medians(without: Path, root: Path, language: str) -> Medians:
    """The median of each tool in sessions that were just opened, and asked once more."""
    sessions = [open_session(path) for path in (without, root)]
    try:
        with sessions[0].index.snapshot() as snapshot:
            symbols = _symbols(snapshot, language)
        pipelines = [Pipeline(session, all_tools()) for session in sessions]
        return {
            (tool, when): _medians(pipelines, [Request(tool, make(one), "bench") for one in symbols])
            for tool, make in _CALLS.items()
            for when in ("anew", "again")
        }
    finally:
        for session in sessions:
            session.close()


def _medians(pipelines: Sequence[Pipeline], requests: Sequence[Request]) -> tuple[float, float]:
    """Of the calls of each pipeline. What else the machine does concerns both alike."""
    times: tuple[list[float], list[float]] = ([], [])
    for number, request in enumerate(requests):
        for side in (0, 1) if number % 2 else (1, 0):
            times[side].append(_cpu(pipelines[side], request))
    return statistics.median(times[0]), statistics.median(times[1])


def _symbols(snapshot: Snapshot, language: str) -> Sequence[DefFact]:
    """Definitions of the language, the same ones in every run."""
    paths = [RepoPath(path) for path in sorted(snapshot.layout.blobs)]
    symbols = [
        symbol
        for path in paths
        if (facts := snapshot.facts(path)) is not None and facts.language == language
        for symbol in snapshot.definitions_in(path, 1000).items
        if symbol.kind in _KINDS
    ]
    return random.Random(7).sample(symbols, min(SYMBOLS, len(symbols)))


def _cpu(pipeline: Pipeline, request: Request) -> float:
    began = time.process_time()
    anyio.run(pipeline.call, request)
    return time.process_time() - began
