"""One definition with the file that it stands in."""

from typing import NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.index.view.files import FileFacts
from codeplane.languages import LanguageSpec
from codeplane.languages.facts import Definition, Span


class Def(NamedTuple):
    """A definition, the facts of its file, and its language."""

    place: Place
    facts: FileFacts
    item: Definition

    @property
    def path(self) -> RepoPath:
        return self.place.path

    @property
    def spec(self) -> LanguageSpec:
        """The language that it is written in."""
        return self.facts.spec

    @property
    def language(self) -> str:
        return self.facts.language

    @property
    def name(self) -> str:
        return self.item.name

    @property
    def kind(self) -> str:
        return self.item.kind

    @property
    def flags(self) -> int:
        return self.item.flags

    @property
    def span(self) -> Span:
        """The whole definition, decorators and modifiers included."""
        return self.item.span

    @property
    def name_line(self) -> int:
        return self.item.name_line

    @property
    def parent(self) -> "Def | None":
        """The definition that holds this one; None where that is the file."""
        at = self.item.parent
        return Def(Place(self.place.path, at), self.facts, self.facts.definitions[at]) if at >= 0 else None
