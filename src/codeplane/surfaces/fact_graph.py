"""A graph of facts, each with its place in the code."""

from typing import NamedTuple

from codeplane.core.paths import RepoPath


class SurfaceFact(NamedTuple):
    """Something of a kind at a place."""

    kind: str
    label: str
    path: RepoPath
    line: int
    symbol: str = ""

    @property
    def id(self) -> str:
        return f"{self.kind} {self.label} {self.path}:{self.line}"


class FactGraph:
    """Facts by kind and by id, and the edges between them."""

    def __init__(self) -> None:
        self._by_kind: dict[str, dict[str, SurfaceFact]] = {}
        self._edges: dict[tuple[str, str], dict[str, SurfaceFact]] = {}

    def add(self, fact: SurfaceFact) -> SurfaceFact:
        """Adds a fact; one with the same id stays as it is."""
        return self._by_kind.setdefault(fact.kind, {}).setdefault(fact.id, fact)

    def connect(self, start: SurfaceFact, via: str, end: SurfaceFact) -> None:
        """Ties a fact to another one."""
        self._edges.setdefault((self.add(start).id, via), {})[self.add(end).id] = end

    def of_kind(self, kind: str) -> list[SurfaceFact]:
        """The facts of a kind in order."""
        return [fact for _, fact in sorted(self._by_kind.get(kind, {}).items())]

    def beyond(self, fact_id: str, via: str, kind: str) -> list[SurfaceFact]:
        """The facts of a kind that a fact is tied to."""
        ends = self._edges.get((fact_id, via), {})
        return [fact for _, fact in sorted(ends.items()) if fact.kind == kind]
