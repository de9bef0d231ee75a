"""What indexers say about places that the structure of the code leaves open, where an edit may rest on it.

An edit takes a place along, or leaves it out, by what an indexer says only where the facts of its file are
clean, and so is everything that they rest on. Elsewhere the place is as open as without an indexer.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from codeplane.core.paths import RepoPath
from codeplane.core.proof import Tier
from codeplane.jail import shown
from codeplane.names import Codebase, RefFact
from codeplane.names.freshness import FileState, Freshness
from codeplane.names.meaning import STRUCTURE
from codeplane.refactor.plan import DIVERGENCE, NOT_FRESH, Group, Problem, SemanticBasis

_SURE = (Tier.PROVEN, Tier.STRONG)


@dataclass(frozen=True)
class SemanticUse:
    """What a plan takes from indexers."""

    places: Mapping[str, int] = field(default_factory=dict)  # indexer → places that it has decided
    rests_on: frozenset[RepoPath] = frozenset()  # the files that what it said rests on
    not_fresh: Mapping[RepoPath, FileState] = field(default_factory=dict)
    divergences: Mapping[RepoPath, Problem] = field(default_factory=dict)  # the first one of each file
    basis: SemanticBasis = field(default_factory=SemanticBasis)

    @property
    def remarks(self) -> Iterator[str]:
        for evidence, count in sorted(self.places.items()):
            yield f"{count} place{'s' if count != 1 else ''} decided by {evidence}."

    def obstacles(self, groups: Collection[Group]) -> Iterator[Problem]:
        """The files with places that somebody would have to decide about and an indexer could."""
        open_paths = {site.path for group in groups if group.asks for site in group.sites}
        for path in sorted(open_paths & self.not_fresh.keys()):
            state = self.not_fresh[path]
            text = f"The semantic facts of {shown(path)} are {state.freshness.value}: {state.reason}."
            yield Problem(NOT_FRESH, text, path)
        for path in sorted(open_paths & self.divergences.keys()):
            yield self.divergences[path]


class SemanticPlaces:
    """Asks indexers about places one by one, and keeps what the answers rest on."""

    def __init__(self, snapshot: Codebase) -> None:
        self._snapshot = snapshot
        self._is_off = snapshot.semantics.is_empty
        self._states: dict[RepoPath, FileState] = {}
        self._places: dict[str, set[tuple[RepoPath, int, int]]] = {}
        self._rests_on: set[RepoPath] = set()
        self._not_fresh: dict[RepoPath, FileState] = {}
        self._divergences: dict[RepoPath, Problem] = {}
        self._ambiguity: set[str] = set()

    def confirmed(self, ref: RefFact) -> RefFact:
        """A reference as the structure of the code has it, or as an indexer decides what that leaves open."""
        if self._is_off:
            return ref
        other = self._by_all_sources(ref)
        if ref.tier in _SURE:
            # They may disagree: then nothing is certain.
            return ref if other.tier in _SURE else other
        if other.tier in _SURE and (other.evidence == STRUCTURE or self._may_be_implemented(other)):
            return ref
        state = self._state(ref.path)
        if state.freshness is Freshness.CLEAN and other.tier in _SURE:
            self._places.setdefault(other.evidence, set()).add((ref.path, ref.line, ref.column))
            self._rests_on.add(ref.path)
            return other
        if state.freshness not in (Freshness.CLEAN, Freshness.UNINDEXED):
            self._not_fresh[ref.path] = state
        elif contexts := self._snapshot.divergence(ref.path, ref.line, ref.column):
            text = (
                f"The build contexts {', '.join(contexts)} disagree about {ref.name}"
                f" in {shown(ref.path)}:{ref.line}."
            )
            self._divergences.setdefault(ref.path, Problem(DIVERGENCE, text, ref.path))
        else:
            self._ambiguity.update(self._snapshot.ambiguity(ref.path, ref.line, ref.column))
        return ref

    @property
    def use(self) -> SemanticUse:
        """What was decided so far, and what that rests on."""
        states = self._snapshot.semantic_states
        beneath = {other for path in self._rests_on for other in states.dependencies(path)}
        return SemanticUse(
            {evidence: len(places) for evidence, places in self._places.items()},
            frozenset(self._rests_on | beneath),
            dict(self._not_fresh),
            dict(self._divergences),
            SemanticBasis(
                frozenset(self._rests_on), self._snapshot.semantics.last_run, frozenset(self._ambiguity)
            ),
        )

    def _state(self, path: RepoPath) -> FileState:
        if path not in self._states:
            self._states[path] = self._snapshot.semantic_states.state_for_edit(path)
        return self._states[path]

    def _may_be_implemented(self, ref: RefFact) -> bool:
        """Whether a member of a protocol is meant: at run time it is that of any class with all of them."""
        interfaces = self._snapshot.interfaces
        owners = map(interfaces.owner, ref.target)
        return any(owner is not None and interfaces.is_implemented_protocol(owner) for owner in owners)

    def _by_all_sources(self, ref: RefFact) -> RefFact:
        for other in self._snapshot.references.named_in(ref.path, ref.name):
            if (other.line, other.column) == (ref.line, ref.column):
                return other
        return ref
