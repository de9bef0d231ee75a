"""What stands behind the name of a class: what a call of it makes, and whether it is that class at all."""

from typing import TYPE_CHECKING, Final

from codeplane.core.kinds import CLASSES
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.slots import InterfaceSlot
from codeplane.languages.facts import Definition
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
        texts = filter(None, self.decorators(place.path, item))
        found = [known(self._linker.written(place.path, item.scope, text)) for text in texts]
        return any(self._makes_another(decorator) for target in found for decorator in target)

    def decorators(self, path: RepoPath, item: Definition) -> list[str]:
        """What is written on each line before that of a definition's name, or ""."""
        lines = range(item.span.start_line, item.name_line)
        return [self._written_at(path, line, item.span.start_column + 1) for line in lines]

    def _written_at(self, path: RepoPath, line: int, column: int) -> str:
        """The dotted name that begins at a place, or ""."""
        facts = self._sources.facts(path)
        names: list[str] = []
        while facts is not None and (standing := self._sources.occurrence_at(path, line, column)):
            before = facts.receivers[standing[1].receiver - 1] if standing[1].receiver else ""
            if before != ".".join(names):
                break
            names.append(standing[0])
            column += len(standing[0].encode("utf-8", "surrogateescape")) + 1
        return ".".join(names)

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
            span = item.span
            lines = [one.name_line for one in facts.definitions if one.kind == "class"]
            return any(span.start_line <= line <= span.end_line for line in lines)
        made = known(self._linker.written(decorator.path, item.scope, said))
        return any(self._linker.definition_kind(one) in CLASSES for one in made)

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
