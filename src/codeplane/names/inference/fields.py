"""Whether a field may hold something else than what its class gives it."""

from collections.abc import Callable
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.slots import InterfaceSlot
from codeplane.index.view.purpose import Purpose
from codeplane.languages.facts import MADE, Occurrence, Role
from codeplane.languages.foreign import ForeignDefinition
from codeplane.names.imports import ImportResolver
from codeplane.names.meaning import AMBIGUOUS, UNRESOLVED, Target, is_external

_STEADY: Final = InterfaceSlot[Place, Target]("a field that holds one class")
_HEIRS: Final = InterfaceSlot[Target, list[Target]]("derived classes")


class Writes:
    """Looks for what else gives a value to a field: other classes, and code behind other receivers."""

    def __init__(
        self,
        linker: ImportResolver,
        meaning: Callable[[RepoPath, str, Occurrence], Target],
        said: Callable[[RepoPath, int, str], Target],
    ) -> None:
        self._linker = linker
        self._sources = linker.sources
        self._meaning = meaning
        self._said = said

    def may_change(self, place: Place, held: Target) -> bool:
        """Whether a field may be given something else than instances of the class that it holds."""
        return self._linker.once(_STEADY, place, lambda: self._steady(place, held)) == AMBIGUOUS

    def _steady(self, place: Place, held: Target) -> Target:
        facts = self._sources.require_facts(place.path)
        item = facts.definitions[place.definition]
        owner = self._linker.grouped(Place(place.path, item.parent))
        is_written = (
            self._is_held_by_kin(owner, item.name, held)
            or self._is_set_by_text(owner, item.name)
            or any(self._is_meant(RepoPath(path), item, place) for path in self._writing(place, item.name))
        )
        return AMBIGUOUS if is_written else (place,)

    def _writing(self, place: Place, name: str) -> list[str]:
        """The files that give a value to a member of the name. What a test puts there to stand in for
        something says nothing about what the code means."""
        purpose = self._sources.purposes.by_place
        paths = self._sources.dynamics.writing(name)
        if purpose(place.path) is Purpose.TEST:
            return list(paths)
        return [path for path in paths if purpose(path) is not Purpose.TEST]

    def _is_held_by_kin(self, owner: Target, name: str, held: Target) -> bool:
        """Whether a base has the member too, or a class that is a derived one or a base of such and does not
        declare the member as what it holds."""
        order = self._linker.classes.order
        bases, heirs = order(owner)[1:], self.heirs(owner)
        for holder in self._linker.holders(name):
            if holder in bases:
                return True
            is_kin = owner in order(holder) or any(holder in order(heir) for heir in heirs)
            if is_kin and holder != owner and not self._declares(holder[0], name, held):
                return True
        return False

    def heirs(self, owner: Target) -> list[Target]:
        """The classes that are derived from one and name it as it is named."""
        answers = self._sources.memo.table(_HEIRS)
        if owner not in answers:
            closure = [owner]
            for one in closure:
                extensions = self._sources.extending(self._definition(one[0]).name)
                heirs = [self._linker.grouped(place) for place in extensions]
                closure += [
                    heir for heir in heirs if heir not in closure and one in self._linker.classes.bases(heir)
                ]
            answers[owner] = closure[1:]
        return answers[owner]

    def _declares(self, holder: Place, name: str, held: Target) -> bool:
        """Whether a class declares a field as another class or one that is derived from that."""
        facts = self._sources.facts(holder.path)
        indices = facts.inside(holder.definition, name) if facts is not None else ()
        if facts is None or len(indices) != 1:
            return False
        item = facts.definitions[indices[0]]
        is_declared = bool(item.annotation) and not item.annotation.endswith(MADE)
        said = self._said(holder.path, item.scope, item.annotation) if is_declared else UNRESOLVED
        return bool(said) and held in self._linker.classes.order(said)

    def _is_set_by_text(self, owner: Target, name: str) -> bool:
        """Whether code gives a value to a member by this name, or the class or a base to any."""
        dynamics = self._sources.dynamics
        if name in dynamics.set_by_text():
            return True
        classes = [
            one for target in self._linker.classes.order(owner) if not is_external(target) for one in target
        ]
        return any(map(dynamics.sets_any, classes))

    def _is_meant(self, path: RepoPath, item: ForeignDefinition, place: Place) -> bool:
        """Whether a file may mean the field where it gives a value to a member of its name."""
        # The one place that resolves names of another file: the digest has a column for what it says of them.
        facts = self._sources.require_own_facts(path)
        others = [
            one
            for one in self._sources.occurrences_of(facts).named(item.name)
            if one.role is Role.WRITE
            and one.receiver
            and not (path == place.path and one.target == place.definition + 1)
        ]
        meanings = [self._meaning(path, item.name, one) for one in others]
        return any(not target or place in target for target in meanings)

    def _definition(self, place: Place) -> ForeignDefinition:
        facts = self._sources.require_facts(place.path)
        return facts.definitions[place.definition]
