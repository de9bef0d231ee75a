"""What the facts of an indexer cost questions: CPU with them beside CPU without, in one run."""

import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.index.conftest import tree_of

from codeplane.core.paths import RepoPath
from codeplane.graph.calls import Bounds, callers
from codeplane.graph.places import place_of
from codeplane.graph.references import references_to
from codeplane.index import Workers
from codeplane.names import DefFact, Index, Snapshot
from codeplane.search.scope import Scope
from codeplane.search.search import Shape, begin, plan, show

SYMBOLS = 60
ROUNDS = 5
_KINDS = ("function", "method", "class", "interface", "field", "property")
_UP = Bounds(3, 20)

Question = Callable[[Snapshot, DefFact], object]
Medians = dict[tuple[str, str], float]
"""Question, and whether it is asked anew or again → the quickest median of a round, in seconds."""


def _ask_references(snapshot: Snapshot, symbol: DefFact) -> object:
    return references_to(snapshot, symbol)


def _ask_callers(snapshot: Snapshot, symbol: DefFact) -> object:
    return callers(snapshot, place_of(symbol), _UP)


def _ask_search(snapshot: Snapshot, symbol: DefFact) -> object:
    shape = Shape("lexical", 20, "minimal", True)
    return show(snapshot, begin(plan(snapshot, "lexical", symbol.name, Scope()), shape), shape, lambda: None)


QUESTIONS: dict[str, Question] = {
    "references": _ask_references,
    "callers": _ask_callers,
    "search": _ask_search,
}


class Slowdown(NamedTuple):
    """How much longer the median question takes with the facts of an indexer."""

    question: str
    ratio: float
    detail: str


def slowdowns(root: Path, without: Path, database: Path, language: str) -> Iterator[Slowdown]:
    """Asks two databases in turn: one `without` the facts, and one with them."""
    medians: dict[Path, Medians] = {without: {}, database: {}}
    for _ in range(ROUNDS):
        for path, quickest in medians.items():
            for key, value in _round_medians(path, root, language).items():
                quickest[key] = min(value, quickest.get(key, value))
    for key, base in medians[without].items():
        value = medians[database][key]
        yield Slowdown(" ".join(key), value / base, f"{value * 1e3:.2f} ms; {base * 1e3:.2f} ms without; CPU")


def _round_medians(path: Path, root: Path, language: str) -> Medians:
    """The median of each question in an index that was just opened, and asked once more."""
    workers = Workers(1)
    index = Index.open(path, tree_of(root), workers)
    try:
        index.refresh()
        with index.snapshot() as snapshot:
            symbols = _symbols(snapshot, language)
            return {
                (name, when): statistics.median(_cpu(partial(ask, snapshot, one)) for one in symbols)
                for name, ask in QUESTIONS.items()
                for when in ("anew", "again")
            }
    finally:
        index.close()
        workers.close()


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


def _cpu(action: Callable[[], object]) -> float:
    began = time.process_time()
    action()
    return time.process_time() - began
