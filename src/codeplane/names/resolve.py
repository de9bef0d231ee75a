"""What one occurrence of a name means, from all sources of meanings: the structure of the code first."""

from collections.abc import Callable, Sequence

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.languages.facts import Occurrence
from codeplane.names.imports import ImportResolver
from codeplane.names.meaning import UNRESOLVED, Meaning
from codeplane.names.providers import OTHERS, STRUCTURE, MeaningProvider


class Resolver:
    """Asks the structure of the code, and where that is not sure, the other sources in order.

    Where another source contradicts what the structure is sure about, nothing is certain.
    """

    def __init__(
        self,
        structure: MeaningProvider,
        others: Sequence[MeaningProvider],
        overridden: Callable[[Place], Sequence[Place]] = lambda _: (),
    ) -> None:
        """`overridden` tells the members of bases that a member takes the place of."""
        self._structure = structure
        self._others = others
        self._overridden = overridden

    @classmethod
    def of_links(cls, links: ImportResolver, *, exact: bool = False) -> "Resolver":
        """Over all sources. A member behind a value of a declared class stands for those that override it as
        well; with `exact` it means nothing where a derived class has one of its own."""
        others = [provider(links, exact=exact) for provider in OTHERS]
        sources = [one for one in others if one is not None]
        return cls(STRUCTURE(links, exact=exact), sources, links.classes.overridden)

    def structural(self, path: RepoPath, name: str, occurrence: Occurrence) -> Meaning:
        """What the structure of the code alone says."""
        return self._structure.meaning(path, name, occurrence)

    def meaning(self, path: RepoPath, name: str, occurrence: Occurrence) -> Meaning:
        """The meaning of an occurrence, with its tier and what says so."""
        return self.confirmed(path, name, occurrence, self.structural(path, name, occurrence))

    def confirmed(self, path: RepoPath, name: str, occurrence: Occurrence, structural: Meaning) -> Meaning:
        """What an occurrence means by all sources, given what it means by the structure of the code."""
        if structural.tier is Tier.PROVEN and not occurrence.receiver:
            return structural  # bound by the scopes of its own file: nobody can know better
        for other in self._others:
            meaning = other.meaning(path, name, occurrence)
            if not meaning.is_sure:
                continue
            if not structural.is_sure:
                return meaning
            if self._contradict(structural, meaning):
                return Meaning(Tier.ANCHORED, UNRESOLVED, f"structure and {meaning.evidence} disagree")
        return structural

    def _contradict(self, structural: Meaning, other: Meaning) -> bool:
        """Whether two meanings that are sure are of different things of the repository."""
        if not structural.target or not other.target:
            return False  # a local variable, or something outside
        if any(place.definition < 0 for place in (*structural.target, *other.target)):
            return False  # a module: one names it, the other what it holds
        if not set(structural.target).isdisjoint(other.target):
            return False
        # Of a member that base and derived class both give a value, one names the first, the other the last.
        ours, theirs = structural.target[0], other.target[0]
        return ours not in self._overridden(theirs) and theirs not in self._overridden(ours)

    @property
    def has_other_sources(self) -> bool:
        """Whether anything but the structure of the code is asked."""
        return bool(self._others)
