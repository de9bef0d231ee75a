"""Sources of meanings, in the order in which they are asked: the structure of the code first."""

from collections.abc import Sequence
from typing import Final, Protocol

from codeplane.core.paths import RepoPath
from codeplane.languages.facts import Occurrence
from codeplane.names.imports import ImportResolver
from codeplane.names.meaning import Meaning
from codeplane.names.providers.semantic import SemanticProvider
from codeplane.names.providers.structural import StructuralProvider


class MeaningProvider(Protocol):
    """Tells what occurrences of names mean, each with a tier and its evidence. It never guesses."""

    def meaning(self, path: RepoPath, name: str, seen: Occurrence, /) -> Meaning:
        """What one occurrence of a name means; `UNKNOWN` where this source does not know."""


class ProviderOfLinks(Protocol):
    """Makes a source of meanings for one state of the files."""

    def __call__(self, linker: ImportResolver, /, *, exact: bool = False) -> MeaningProvider | None:
        """`exact`: a member means nothing where a derived class may have one of its own. None where the
        source has nothing to say about any of the files."""


STRUCTURE: Final = StructuralProvider
OTHERS: Final[Sequence[ProviderOfLinks]] = (SemanticProvider.of_links,)
