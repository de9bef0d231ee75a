"""Questions about symbols of Django 5.2, in process: CPU of the question, the look at the tree apart."""

import gc
import random
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from bench.corpora import indexed, python_package
from bench.measure import Figure
from codeplane.core.paths import RepoPath
from codeplane.graph.calls import Bounds, callees, callers
from codeplane.graph.card import card_of
from codeplane.graph.places import place_of
from codeplane.graph.references import references_to
from codeplane.names import DefFact, Snapshot

T = TypeVar("T")

LOOKUPS = 400
WALKS = 60
# Symbols of Django with about a thousand references each, or more.
MANY = (
    "django.core.exceptions.ValidationError",
    "django.test.testcases.SimpleTestCase",
    "django.test.testcases.TestCase",
    "django.test.utils.override_settings",
    "django.db.models.base.Model",
    "django.db.models.base.Model.save",
    "django.db.models.query.QuerySet.filter",
    "django.db.models.fields.CharField",
)


def figures() -> list[Figure]:
    with indexed(python_package("django", "5.2")) as index:
        look = min(_timed(index.refresh) for _ in range(3))
        index.warm()
        gc.freeze()  # as a server does, once it knows the repository
        with index.snapshot() as snapshot:
            made = _figures(snapshot)
    return [
        *made,
        Figure(
            "the look at the tree", look * 1e3, "ms", None, "before each call, where events are not followed"
        ),
    ]


def _figures(snapshot: Snapshot) -> list[Figure]:
    chosen = _symbols(snapshot)
    names = [snapshot.qualified_name(one.path, one.position) for one in chosen]
    many = [snapshot.symbol(name) for name in MANY]
    functions = [one for one in chosen if one.kind in ("function", "method")][:WALKS]
    three = Bounds(3, 20)

    def walk_up(one: DefFact) -> object:
        return callers(snapshot, place_of(one), three)

    def walk_down(one: DefFact) -> object:
        return callees(snapshot, place_of(one), three)

    return [
        *_twice("symbol lookup, p95", 5, snapshot.symbol, names),
        *_twice("references, 1,000 uses, p95", 20, partial(references_to, snapshot), many),
        *_twice("callers, depth 3, p95", 50, walk_up, functions),
        *_twice("callees, depth 3, p95", None, walk_down, functions),
        *_twice("card, p95", None, lambda one: card_of(snapshot, one, 20), functions),
    ]


def _symbols(snapshot: Snapshot) -> list[DefFact]:
    """Definitions whose qualified names are their own, the same ones in every run."""
    found = [
        one
        for path in map(RepoPath, sorted(snapshot.layout.blobs))
        if "/django/" in path and path.endswith(".py")
        for one in snapshot.definitions_in(path, 1000).items
        if one.kind in ("function", "method", "class")
    ]
    alone: dict[str, list[DefFact]] = {}
    for one in found:
        alone.setdefault(snapshot.qualified_name(one.path, one.position), []).append(one)
    single = [ones[0] for ones in alone.values() if len(ones) == 1]
    return random.Random(7).sample(single, LOOKUPS)


def _twice(name: str, bound: float | None, ask: Callable[[T], object], about: Sequence[T]) -> list[Figure]:
    """The time of questions asked before, as a server that has been up for a while answers them; and anew."""
    first, again = ([_timed(partial(ask, one)) * 1e3 for one in about] for _ in range(2))
    told = f"{len(about)} questions; median {statistics.median(again):.2f} ms"
    new = f"median {statistics.median(first):.2f} ms"
    return [
        Figure(name, _p95(again), "ms", bound, told),
        Figure("  asked for the first time", _p95(first), "ms", None, new),
    ]


def _p95(values: Sequence[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)]


def _timed(action: Callable[[], object]) -> float:
    started = time.process_time()
    action()
    return time.process_time() - started
