"""Where code asks whether a value is of a type that its declared one does not name."""

import re
from collections.abc import Callable, Iterable
from typing import Final

from codeplane.index.links import Linker
from codeplane.index.targets import CLASSES, NOTHING, UNCLEAR, Target, known
from codeplane.languages.facts import MADE
from codeplane.languages.modules import Place

_GUARD: Final = re.compile(r"\)\s*:\s*(?:asserts\s+)?([\w$]+)\s+is\s+(.+)\Z", re.DOTALL)


class Narrowing:
    """Tells which other type a value may be of by what is asked of it."""

    def __init__(self, linker: Linker, said: Callable[[str, int, str], Target]) -> None:
        self._linker = linker
        self._sources = linker.sources
        self._said = said

    def may_mean_another(self, path: str, asked: Iterable[str], owner: Target, name: str) -> bool:
        """Whether a value of a class may be of a type that has another member of the name."""
        member = self._linker.classes.member
        types = [found for what in asked for found in self._types(path, what, owner)]
        own = member(owner, name) if types else NOTHING
        return any(
            self._has_another(owner, name) if one == UNCLEAR else member(one, name) not in (NOTHING, own)
            for one in types
        )

    def _types(self, path: str, what: str, owner: Target) -> list[Target]:
        """The types that are asked for, UNCLEAR for those that cannot be said."""
        if not what.endswith(MADE):
            return [self._said(path, 0, what) or UNCLEAR]
        name = what.removesuffix(MADE)
        is_own = name.startswith(".")
        if is_own:
            functions = known(self._linker.classes.member(owner, name[1:]))
        else:
            functions = known(self._linker.written(path, 0, name))
        return [found for place in functions for found in self._guarded(place, is_own)]

    def _guarded(self, place: Place, is_own: bool) -> list[Target]:
        """The types that a function says its argument, or its receiver, is one of."""
        facts = self._sources.facts(place.path)
        item = facts.definitions[place.definition] if facts and place.definition >= 0 else None
        found = _GUARD.search(item.signature) if item is not None else None
        if facts is None or item is None or found is None or (found[1] == "this") != is_own:
            return []
        declared_type = self._linker.spec(facts).declared_type
        said = (
            [declared_type(part, facts.full_names) for part in found[2].split("|")] if declared_type else []
        )
        return [self._said(place.path, item.scope, text) or UNCLEAR for text in said]

    def _has_another(self, owner: Target, name: str) -> bool:
        """Whether something that is neither a class nor a base of it has a member of the name."""
        answers, key = self._sources.memo.answers, ("another", owner, name)
        if key not in answers:
            order = {place for one in self._linker.classes.order(owner) for place in one}
            held = [place for place, kind in self._sources.held(name) if kind in CLASSES]
            answers[key] = any(place not in order for place in held)
        return bool(answers[key])
