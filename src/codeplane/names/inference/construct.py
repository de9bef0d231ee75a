"""What stands behind the name of a class: what a call of it makes, and whether it is that class at all."""

from typing import TYPE_CHECKING, Final

from codeplane.core.kinds import CLASSES
from codeplane.core.places import Place
from codeplane.core.slots import InterfaceSlot
from codeplane.index.view.foreign import ForeignFile
from codeplane.names.classes import Classes
from codeplane.names.meaning import UNRESOLVED, Target, is_external, known

if TYPE_CHECKING:
    from codeplane.names.imports import ImportResolver

_HAS_METACLASS: Final = InterfaceSlot[Target, bool]("a metaclass decides what a call makes")
_EXTENDS: Final = InterfaceSlot[tuple[Target, frozenset[str]], bool]("a class extends one of some bases")


class Construction:
    """Asks what else than itself a class may stand for."""

    def __init__(self, linker: "ImportResolver", classes: Classes) -> None:
        self._linker = linker
        self._classes = classes
        self._sources = linker.sources

    def is_made_by_another(self, owner: Target) -> bool:
        """Whether the class of a class decides what a call of it makes."""
        answers = self._sources.memo.table(_HAS_METACLASS)
        if owner not in answers:
            known_ones = [
                place for one in self._classes.order(owner) if not is_external(one) for place in one
            ]
            answers[owner] = any(map(self._has_metaclass, known_ones))
        return answers[owner]

    def is_keyed(self, owner: Target) -> bool:
        """Whether the fields of a class are keys of its instances."""
        facts = self._sources.facts(owner[0].path) if owner else None
        return facts is not None and self._extends(owner, self._linker.spec(facts).types.typed_dicts)

    def is_listing(self, owner: Target) -> bool:
        """Whether what a class gives values to in its body are its instances."""
        facts = self._sources.facts(owner[0].path) if owner else None
        return facts is not None and self._extends(owner, self._linker.spec(facts).types.enums)

    def _extends(self, owner: Target, bases: frozenset[str]) -> bool:
        """Whether a class or one of its bases writes down one of these bases."""
        if not bases:
            return False
        answers, key = self._sources.memo.table(_EXTENDS), (owner, bases)
        if key not in answers:
            known_ones = [
                place for one in self._classes.order(owner) if not is_external(one) for place in one
            ]
            answers[key] = any(bases.intersection(self._bases(place)) for place in known_ones)
        return answers[key]

    def is_replaced(self, place: Place) -> bool:
        """Whether a decorator makes something else of a class, by what it says or has in it."""
        facts = self._sources.facts(place.path)
        spec = self._linker.spec(facts) if facts is not None and place.definition >= 0 else None
        if facts is None or spec is None or not spec.types.new_method:
            return False
        item = facts.definitions[place.definition]
        texts = filter(None, self._sources.decorators(place))
        targets = [known(self._linker.written(place.path, item.scope, text)) for text in texts]
        return any(self._makes_another(decorator) for target in targets for decorator in target)

    def _makes_another(self, decorator: Place) -> bool:
        facts = self._sources.facts(decorator.path)
        if facts is None or decorator.definition < 0:
            return False
        item, spec = facts.definitions[decorator.definition], self._linker.spec(facts)
        if item.kind not in ("function", "method") or not spec.types.reads_annotations:
            return item.kind == "class"
        # What is said to be some class derived from another is not known as the one that was given.
        said = spec.types.returned_class(item.signature)
        said = said or spec.types.returned_type(item.signature, facts.full_names)
        if not said:
            # What is returned may be a class that is made there.
            return any(
                self._is_inside(facts, at, decorator.definition)
                for at, one in enumerate(facts.definitions)
                if one.kind == "class"
            )
        places = known(self._linker.written(decorator.path, item.scope, said))
        return any(self._linker.definition_kind(one) in CLASSES for one in places)

    def _is_inside(self, facts: ForeignFile, at: int, outer: int) -> bool:
        while at >= 0 and at != outer:
            at = facts.definitions.parent(at)
        return at == outer

    def _bases(self, place: Place) -> tuple[str, ...]:
        facts = self._sources.facts(place.path)
        return facts.definitions[place.definition].bases if facts is not None else ()

    def _has_metaclass(self, place: Place) -> bool:
        facts = self._sources.facts(place.path)
        if facts is None:
            return False
        item, types = facts.definitions[place.definition], self._linker.spec(facts).types
        name = types.metaclass(item.signature)
        metaclass = known(self._linker.written(place.path, item.scope, name)) if name else UNRESOLVED
        return bool(metaclass) and bool(known(self._classes.member(metaclass, types.metaclass_call)))
