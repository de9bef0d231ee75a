"""Traces of endpoints of real services, and what cards cost: `python -m bench.feature_trace`.

A trace asked again is bounded; the first one reads the sites of the files on its way and is only printed,
like the endpoints after an edit of a handler's file, and what cards cost with and without their facts.
"""

import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from bench.corpora import indexed, python_package
from codeplane.answers.feature_trace import node_row, tree_lines
from codeplane.core.errors import CodePlaneError
from codeplane.core.places import Place
from codeplane.graph.card import card_of
from codeplane.names import Index, Snapshot
from codeplane.surfaces.definition_facts import DefinitionFacts
from codeplane.surfaces.endpoints import endpoints_of
from codeplane.surfaces.tracing.entries import EntryFinder
from codeplane.surfaces.tracing.walk import Bounds, Walk

SLOWEST_AGAIN_MS = 150
SERVICES = (("prefect", "3.1.10"), ("django-oscar-api", "3.3.0"), ("django", "5.2"))
_MOST_ASKED = 30
_BOUNDS = Bounds(3, 100)

T = TypeVar("T")


def answer(snapshot: Snapshot, text: str) -> str:
    """The text of a trace, as the tool gives it."""
    facts = DefinitionFacts(snapshot)
    entry = EntryFinder(snapshot, facts).find(text)
    result = Walk(snapshot, facts, _BOUNDS).trace(entry.regions, entry.before, entry.line)
    return "\n".join(tree_lines([node_row(snapshot, node, entry.name) for node in result.roots]))


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Milliseconds of wall time, and the result."""
    started = time.perf_counter()
    result = work()
    return (time.perf_counter() - started) * 1000, result


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


@contextmanager
def edited(path: Path) -> Iterator[None]:
    """A file with a comment more at its end."""
    data = path.read_bytes()
    path.write_bytes(data + b"\n# edited\n")
    try:
        yield
    finally:
        path.write_bytes(data)


def entry_points(snapshot: Snapshot) -> list[str]:
    """Requests to endpoints with a handler, or else functions, by chance and always the same."""
    chance = random.Random(5)
    texts = [f"{one.method} {one.route}" for one in endpoints_of(snapshot).endpoints if one.handler]
    if len(texts) < _MOST_ASKED:
        texts += [snapshot.qualified(place) for place in some_functions(snapshot, 4 * _MOST_ASKED)]
    return chance.sample(texts, min(len(texts), 3 * _MOST_ASKED))


def some_functions(snapshot: Snapshot, most: int) -> list[Place]:
    tests = snapshot.tests()
    places = [
        Place(path, number)
        for path in snapshot.layout.ordered
        if path.endswith(".py") and path not in tests and snapshot.facts(path) is not None
        for number, item in enumerate(snapshot.require_facts(path).definitions)
        if item.kind in ("function", "method")
    ]
    return random.Random(7).sample(places, min(len(places), most))


def measure(index: Index, root: Path) -> float:
    """Prints the figures of one service; the 95th percentile of traces asked again."""
    first: list[float] = []
    again: list[float] = []
    sizes: list[float] = []
    with index.snapshot() as snapshot:
        texts = entry_points(snapshot)
    for text in texts:
        if len(again) >= _MOST_ASKED:
            break
        with index.snapshot() as snapshot:
            try:
                spent, tree = timed(lambda text=text: answer(snapshot, text))  # type: ignore[misc]
            except CodePlaneError as error:  # two endpoints of one path, or nothing behind one
                print(f"  not asked: {text}: {type(error).__name__}")
                continue
        first.append(spent)
        sizes.append(len(tree))
        with index.snapshot() as snapshot:
            again.append(timed(lambda text=text: answer(snapshot, text))[0])  # type: ignore[misc]
    print(
        f"  {len(again)} traces: first median {percentile(first, 0.5):.0f} ms, most {max(first):.0f} ms; "
        f"again p95 {percentile(again, 0.95):.1f} ms; median {percentile(sizes, 0.5):.0f} characters"
    )
    _measure_edit(index, root, texts)
    _measure_cards(index)
    return percentile(again, 0.95)


def _measure_edit(index: Index, root: Path, texts: list[str]) -> None:
    with index.snapshot() as snapshot:
        path = next(
            (one.handler.path for one in endpoints_of(snapshot).endpoints if one.handler is not None), None
        )
    if path is None:
        return
    with edited(root / path):
        index.refresh()
        with index.snapshot() as snapshot:
            spent = timed(lambda: endpoints_of(snapshot))[0]
            print(f"  endpoints after an edit of {path}: {spent:.0f} ms")
    index.refresh()


def _measure_cards(index: Index) -> None:
    with index.snapshot() as snapshot:
        cards: list[float] = []
        facts: list[float] = []
        for place in some_functions(snapshot, 40):
            definition = snapshot.definition_at(place.path, place.definition)
            if definition is not None:
                cards.append(timed(lambda one=definition: card_of(snapshot, one, 20))[0])  # type: ignore[misc]
                facts.append(
                    timed(lambda one=place: DefinitionFacts(snapshot, is_local=True).at(one))[0]  # type: ignore[misc]
                )
    print(
        f"  cards: median {percentile(cards, 0.5):.1f} ms and {percentile(facts, 0.5):.1f} ms for their "
        f"facts; p95 {percentile(cards, 0.95):.1f} and {percentile(facts, 0.95):.1f}"
    )


def main() -> int:
    is_slow = False
    wanted = sys.argv[1:]
    for name, version in SERVICES:
        if wanted and name not in wanted:
            continue
        root = python_package(name, version)
        print(f"{name} {version}")
        with indexed(root) as index:
            is_slow |= measure(index, root) > SLOWEST_AGAIN_MS
    return int(is_slow)


if __name__ == "__main__":
    sys.exit(main())
