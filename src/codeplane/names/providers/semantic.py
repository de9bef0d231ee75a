"""The meanings that batch indexers have told, as far as they still hold."""

from collections.abc import Callable
from typing import Final

from codeplane.core.kinds import CLASSES
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.index.semantics import SemanticFacts, SemanticTarget
from codeplane.languages.facts import Occurrence, Role
from codeplane.names.freshness import SemanticStates, find_definition
from codeplane.names.imports import ImportResolver
from codeplane.names.meaning import UNRESOLVED, Meaning, Target, known

_UNKNOWN: Final = Meaning(Tier.UNKNOWN, UNRESOLVED)


class SemanticProvider:
    """Answers from facts that are clean: about this content, with nothing changed that they rest on.

    What means something outside the repository is known to mean no definition in it: it is strong and has no
    target. With `exact`, a member means nothing where a derived class may have one of its own.
    """

    def __init__(self, links: ImportResolver, *, exact: bool = False) -> None:
        self._links = links
        self._view = links.sources
        self._semantics = links.sources.semantics
        self._states = SemanticStates(links)
        self._exact = exact
        self._clean: dict[RepoPath, list[_Meanings]] = {}

    @classmethod
    def of_links(cls, links: ImportResolver, *, exact: bool = False) -> "SemanticProvider | None":
        """The source for one state of the files; None where no indexer has told anything."""
        return None if links.sources.semantics.is_empty else cls(links, exact=exact)

    def meaning(self, path: RepoPath, name: str, occurrence: Occurrence, /) -> Meaning:  # noqa: ARG002
        """What the indexers of all build contexts say that an occurrence means; nothing where they differ."""
        if not self._documents(path) or occurrence.role is Role.DEFINE:
            return _UNKNOWN
        meanings = [meaning for _, meaning in self._meanings_at(path, occurrence.line, occurrence.column)]
        is_one = bool(meanings) and all(one.target == meanings[0].target for one in meanings)
        return meanings[0] if is_one and not self._is_early(path, occurrence, meanings[0]) else _UNKNOWN

    def _is_early(self, path: RepoPath, occurrence: Occurrence, meaning: Meaning) -> bool:
        """Whether a name is read before the statement that binds it has run, in a scope where order counts.

        `zip = zip` reads the `zip` of Python; indexers that ignore the order say that it is the new one. The
        scopes of the file don't bind such a read. A read in a function may come later: `def f(): return zip`.
        """
        if occurrence.receiver or occurrence.target:
            return False
        facts = self._view.require_own_facts(path)
        here = [one for one in meaning.target if one.path == path and one.definition >= 0]
        items = [facts.definitions[one.definition] for one in here]
        position = (occurrence.line, occurrence.column)
        return any(
            occurrence.scope == item.scope and position <= (item.span.end_line, item.span.end_column)
            for item in items
        )

    def divergence(self, path: RepoPath, line: int, column: int) -> tuple[str, ...]:
        """The build contexts whose indexers say different things of a token; none where they agree."""
        if len(self._documents(path)) < 2:
            return ()
        meanings = [pair for pair in self._meanings_at(path, line, column) if pair[1] is not _UNKNOWN]
        targets = {one.target for _, one in meanings}
        return tuple(sorted(context for context, _ in meanings)) if len(targets) > 1 else ()

    def ambiguity(self, path: RepoPath, line: int, column: int) -> tuple[str, ...]:
        """The kinds of ambiguity that indexers have seen in a file, where a token is one of those places."""
        occurrences = self._view.occurrences_of(self._view.require_own_facts(path))
        number = occurrences.number_at(line, column)
        documents = self._documents(path) if number is not None else []
        return tuple(kind for one in documents if one.is_ambiguous(number or 0) for kind in one.ambiguity)

    def _meanings_at(self, path: RepoPath, line: int, column: int) -> list[tuple[str, Meaning]]:
        """What is said of a token, with the build context of each."""
        occurrences = self._view.occurrences_of(self._view.require_own_facts(path))
        number = occurrences.number_at(line, column)
        if number is None:
            return []
        documents = self._documents(path)
        return [(one.context, meaning) for one in documents if (meaning := one.meaning(number)) is not None]

    def _documents(self, path: RepoPath) -> "list[_Meanings]":
        """What the runs whose facts of a file hold say about it."""
        documents = self._clean.get(path)
        if documents is None:
            documents = self._clean[path] = [
                _Meanings(one, self._of_target)
                for one in self._semantics.documents(path)
                if self._states.is_clean(path, one)
            ]
        return documents

    def _of_target(self, document: SemanticFacts, target: SemanticTarget) -> Meaning:
        run = self._semantics.run(document.run)
        evidence = f"{run.indexer} {run.version}".strip()
        if target.kind == "external":
            return Meaning(Tier.STRONG, UNRESOLVED, evidence)
        if target.kind == "file" and self._view.facts(target.path) is not None:
            return Meaning(Tier.STRONG, (Place(RepoPath(target.path), -1),), evidence)
        if target.kind != "definition":
            return _UNKNOWN
        places = self._places(target)
        return Meaning(Tier.STRONG, places, evidence) if places else _UNKNOWN

    def _places(self, target: SemanticTarget) -> Target:
        facts = self._view.facts(target.path)
        at = find_definition(facts, target) if facts is not None else None
        if at is None:
            return UNRESOLVED
        place = Place(RepoPath(target.path), at)
        if self._is_of_like_literals(place):
            return UNRESOLVED
        # Where a class only gives a value to what a base declares, or may declare outside of the repository,
        # indexers name the one or the other.
        places = known(self._links.classes.declared(place))
        return UNRESOLVED if self._exact and places and self._is_overridden(places) else places

    def _is_of_like_literals(self, place: Place) -> bool:
        """Whether a definition is a key of an object that is written down, and the file has another of the
        name: what is made of such objects by mapped types is said to be any one of them."""
        facts = self._view.require_facts(place.path)
        item = facts.definitions[place.definition]
        if not facts.spec.renaming.object_literals or facts.bound(item.scope, item.name) is not None:
            return False
        is_member = item.parent >= 0 and facts.definitions.kind(item.parent) in CLASSES
        return not is_member and facts.definitions.names.count(item.name) > 1

    def _is_overridden(self, target: Target) -> bool:
        """Whether a member of a derived class takes the place of one."""
        item = self._view.require_facts(target[0].path).definitions[target[0].definition]
        if item.parent < 0:
            return False
        overridden = self._links.classes.overridden
        return any(
            not set(overridden(other)).isdisjoint(target)
            for other in self._view.definitions(item.name)
            if other not in target
        )


class _Meanings:
    """The meanings of one document, each worked out when it is first asked for."""

    def __init__(
        self, document: SemanticFacts, find: Callable[[SemanticFacts, SemanticTarget], Meaning]
    ) -> None:
        self._document, self._find = document, find
        self.context = document.context
        self.ambiguity = document.ambiguity
        self._meanings: dict[int, Meaning] = {}

    def is_ambiguous(self, number: int) -> bool:
        """Whether the indexer says that an occurrence means one of several definitions."""
        column = self._document.column
        at = column[number] if number < len(column) else 0
        return at > 0 and self._document.targets[at - 1].kind == "ambiguous"

    def meaning(self, number: int) -> Meaning | None:
        """That of an occurrence, by its number in the file; None where the indexer says nothing."""
        column = self._document.column
        at = column[number] if number < len(column) else 0
        if not at:
            return None
        meaning = self._meanings.get(at)
        if meaning is None:
            meaning = self._meanings[at] = self._find(self._document, self._document.targets[at - 1])
        return meaning
