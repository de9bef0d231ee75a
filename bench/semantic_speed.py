"""What the semantic tier costs calls of tools: CPU with facts of an indexer beside CPU without, in one run.

`python -m bench.semantic_speed NAME VERSION` compares, on a Python package, a tier that is not used with a
build that has none.
"""

import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import anyio

from bench.corpora import python_package
from codeplane.config import Places
from codeplane.core.paths import RepoPath
from codeplane.names import DefFact, Snapshot, resolve
from codeplane.server.pipeline import Pipeline, Request
from codeplane.session import Checkout, RepoSession
from codeplane.tools import all_tools

SYMBOLS = 60
ROUNDS = 3
UNUSED_ROUNDS = 5
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


Build = Callable[[], AbstractContextManager[None]]
"""Has calls run as they would in another build."""


class Side(NamedTuple):
    """One of two things that are compared: a copy of a repository, and how it is asked."""

    root: Path
    build: Build = nullcontext


@contextmanager
def without_provider() -> Iterator[None]:
    """A build whose list of providers has the structure of the code alone."""
    others = resolve.OTHERS  # type: ignore[attr-defined]
    resolve.OTHERS = ()  # type: ignore[attr-defined]
    try:
        yield
    finally:
        resolve.OTHERS = others  # type: ignore[attr-defined]


def open_session(root: Path) -> RepoSession:
    """A session of its own, with everything read."""
    session = RepoSession.open(Checkout.find(root, Places.of_user({"HOME": str(root.parent)})))
    session.index.refresh()
    return session


def slowdowns(without: Path, root: Path, language: str) -> Iterator[Slowdown]:
    """Asks two copies of a repository, call by call in turn: one `without` the facts, and one with them."""
    return _compare((Side(without), Side(root)), language, ROUNDS)


def unused_slowdowns(root: Path, language: str, folder: Path) -> Iterator[Slowdown]:
    """Asks copies of a repository that no indexer has run in, beside one in a build without the provider: one
    as it comes, one with the tier switched off, and one in that build as well, which shows the noise."""
    copies = {name: folder / name / "repo" for name in ("none", "unused", "off", "same")}
    for copy in copies.values():
        shutil.copytree(root, copy, symlinks=True)
    for name in ("none", "off", "same"):
        (copies[name].parent / ".config" / "codeplane").mkdir(parents=True)
        config = copies[name].parent / ".config" / "codeplane" / "config.yaml"
        config.write_text("semantic: {enabled: false}\n")
    base = Side(copies["none"], without_provider)
    for name, build in (("unused", nullcontext), ("off", nullcontext), ("same", without_provider)):
        for one in _compare((base, Side(copies[name], build)), language, UNUSED_ROUNDS):
            yield one._replace(question=f"{name}, {one.question}")


def _compare(sides: tuple[Side, Side], language: str, rounds: int) -> Iterator[Slowdown]:
    quickest: Medians = {}
    for _ in range(rounds):
        for key, values in _round_medians(sides, language).items():
            before = quickest.get(key, values)
            quickest[key] = (min(before[0], values[0]), min(before[1], values[1]))
    for key, (base, value) in quickest.items():
        yield Slowdown(" ".join(key), value / base, f"{value * 1e3:.1f} ms; {base * 1e3:.1f} ms without; CPU")


def _round_medians(sides: tuple[Side, Side], language: str) -> Medians:
    """The median of each tool in sessions that were just opened, and asked once more."""
    sessions = [open_session(side.root) for side in sides]
    try:
        with sessions[0].index.snapshot() as snapshot:
            symbols = _symbols(snapshot, language)
        askers = [
            (Pipeline(session, all_tools()), side.build)
            for session, side in zip(sessions, sides, strict=True)
        ]
        return {
            (tool, when): _medians(askers, [Request(tool, make(one), "bench") for one in symbols])
            for tool, make in _CALLS.items()
            for when in ("anew", "again")
        }
    finally:
        for session in sessions:
            session.close()


def _medians(askers: Sequence[tuple[Pipeline, Build]], requests: Sequence[Request]) -> tuple[float, float]:
    """Of the calls of each pipeline. What else the machine does concerns both alike."""
    times: tuple[list[float], list[float]] = ([], [])
    for number, request in enumerate(requests):
        for side in (0, 1) if number % 2 else (1, 0):
            pipeline, build = askers[side]
            with build():
                times[side].append(_cpu(pipeline, request))
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


def main() -> None:
    name, version = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="cpl-") as folder:
        for one in unused_slowdowns(python_package(name, version), "python", Path(folder)):
            print(f"{one.question:<32} {one.ratio:>6.3f} ×  {one.detail}", flush=True)


if __name__ == "__main__":
    main()
