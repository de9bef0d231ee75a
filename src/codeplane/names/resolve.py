"""What one occurrence of a name means: the answer of the first source of meanings that is sure."""

from collections.abc import Sequence

from codeplane.core.paths import RepoPath
from codeplane.languages.facts import Occurrence
from codeplane.names.imports import ImportResolver
from codeplane.names.meaning import Meaning
from codeplane.names.providers import PROVIDERS, MeaningProvider


class Resolver:
    """Asks sources of meanings in order. Where none is sure, what the first one knows is the answer."""

    def __init__(self, providers: Sequence[MeaningProvider]) -> None:
        assert providers, "BUG: names mean something to somebody"
        self._first, *self._others = providers

    @classmethod
    def of_links(cls, links: ImportResolver, *, exact: bool = False) -> "Resolver":
        """Over all sources. A member behind a value of a declared class stands for those that override it as
        well; with `exact` it means nothing where a derived class has one of its own."""
        return cls([provider(links, exact=exact) for provider in PROVIDERS])

    def meaning(self, path: RepoPath, name: str, occurrence: Occurrence) -> Meaning:
        """The meaning of an occurrence, with its tier and what says so."""
        first = self._first.meaning(path, name, occurrence)
        if first.is_sure:
            return first
        for other in self._others:
            meaning = other.meaning(path, name, occurrence)
            if meaning.is_sure:
                return meaning
        return first
