"""References, callers and renames say the same of every call, whatever the classes look like."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeplane.core.paths import RepoPath
from codeplane.graph.calls import Bounds, callers
from codeplane.graph.places import place_of
from codeplane.graph.possible_uses import CERTAIN
from codeplane.graph.references import Kind, references_to
from codeplane.names import DefFact, Index, Snapshot
from codeplane.refactor.occurrences.search import find_occurrences
from codeplane.refactor.rename_set import rename_set_of

_NAMES = ("A", "B", "C", "D")
_PATH = RepoPath("app.py")
_RECEIVERS = ("{0}()", "given_{0}", "maybe_{0}", "held.{0}", "held.loose_{0}", "local_{0}", "unknown")


class Program(NamedTuple):
    """Classes, each with bases among those before it and with or without the method, and calls."""

    bases: tuple[tuple[int, ...], ...]
    has_method: tuple[bool, ...]
    calls: tuple[tuple[int, int], ...]  # number of the receiver's form, number of the class

    def text(self) -> str:
        lines = ["from __future__ import annotations", ""]
        for at, name in enumerate(_NAMES):
            below = ", ".join(_NAMES[base] for base in self.bases[at])
            lines += [f"class {name}({below}):", "    def own(self): ..."]
            lines += ["    def run(self): ..."] if self.has_method[at] else []
        lines += ["class Held:", "    def __init__(self, other):"]
        for name in _NAMES:
            lines += [f"        self.{name}: {name} | None = None", f"        self.loose_{name} = {name}()"]
        given_as = ", ".join(f"given_{name}: {name}, maybe_{name}: {name} | None" for name in _NAMES)
        lines += [f"def main(held: Held, unknown, {given_as}):"]
        lines += [f"    local_{name} = held.{name}" for name in _NAMES]
        lines += [f"    {_RECEIVERS[form].format(_NAMES[at])}.run()" for form, at in self.calls]
        return "\n".join([*lines, "    return None", ""])


def _bases(number: int) -> st.SearchStrategy[tuple[int, ...]]:
    # Later classes first: an order of lookup exists.
    chosen = st.sets(st.integers(0, number - 1), max_size=2) if number else st.just(set[int]())
    return chosen.map(lambda some: tuple(sorted(some, reverse=True)))


_PROGRAMS = st.builds(
    Program,
    st.tuples(*(_bases(number) for number in range(len(_NAMES)))),
    st.tuples(*(st.booleans() for _ in _NAMES)),
    st.lists(
        st.tuples(st.integers(0, len(_RECEIVERS) - 1), st.integers(0, len(_NAMES) - 1)),
        min_size=1,
        max_size=8,
    ).map(tuple),
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_PROGRAMS)
def test_references_callers_and_renames_agree_on_every_tier(
    repo: Path, index: Index, program: Program
) -> None:
    (repo / _PATH).write_text(program.text())
    index.refresh()
    with index.snapshot() as snapshot:
        methods = snapshot.definitions_named("run", 10).items
        for method in methods:
            certain, possible = _calls(snapshot, method)
            assert (certain, possible) == _called(snapshot, method)
            _assert_renamed(snapshot, method, methods)


def _calls(snapshot: Snapshot, method: DefFact) -> tuple[set[int], set[int]]:
    """The lines of the calls that references tell of: certain ones, and others."""
    found = [one for one in references_to(snapshot, method).items if one.kind is Kind.CALL]
    certain = {one.line for one in found if one.tier in CERTAIN}
    return certain, {one.line for one in found} - certain


def _called(snapshot: Snapshot, method: DefFact) -> tuple[set[int], set[int]]:
    """The same, as callers tell it."""
    walk = callers(snapshot, place_of(method), Bounds(1, 100))
    edges = [edge for level in walk.levels for node in level.nodes for edge in node.edges]
    return {line for edge in edges for line in edge.lines}, {use.line for use in walk.possible}


def _assert_renamed(snapshot: Snapshot, method: DefFact, methods: Sequence[DefFact]) -> None:
    """A rename changes what surely means the rename set, and asks about what may mean it."""
    rename_set = rename_set_of(snapshot, place_of(method))
    found = find_occurrences(snapshot, rename_set, "go")
    certain: set[int] = set()
    possible: set[int] = set()
    for one in _in_set(methods, rename_set.places):
        sure, maybe = _calls(snapshot, one)
        certain, possible = certain | sure, possible | maybe
    assert {site.line for site in found.sites if site.what == "call"} == certain
    assert {ref.line for ref in found.open} == possible - certain


def _in_set(methods: Sequence[DefFact], places: frozenset[object]) -> Iterator[DefFact]:
    yield from (one for one in methods if place_of(one) in places)
