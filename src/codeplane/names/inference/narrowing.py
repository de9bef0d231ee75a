"""Where code asks whether a value is of a type that its declared one does not name."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Final

from codeplane.core.kinds import CLASSES, split_path
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.slots import InterfaceSlot
from codeplane.index.view.foreign import ForeignFile
from codeplane.languages import LanguageSpec
from codeplane.languages.facts import MADE
from codeplane.names.imports import ImportResolver
from codeplane.names.meaning import AMBIGUOUS, UNRESOLVED, Target, known

_ITSELF: Final = "this"  # what a method says the type of that it says of its receiver
_NARROWED: Final = InterfaceSlot[tuple[str, int], dict[str, list[str]]](
    "types that receivers are checked for"
)
_TYPE_GUARDS: Final = InterfaceSlot[str, dict[str, set[str]]]("type guards")
_HAS_ANOTHER: Final = InterfaceSlot[tuple[Target, str], bool]("an unrelated class has a member of the name")


class Narrowing:
    """Tells which other type a value may be of by what is asked of it."""

    def __init__(self, linker: ImportResolver, said: Callable[[RepoPath, int, str], Target]) -> None:
        self._linker = linker
        self._sources = linker.sources
        self._said = said

    def of_receiver(self, path: RepoPath, number: int) -> dict[int, list[str]]:
        """Number of names behind the first one of a receiver → what the code asks whether that is."""
        facts = self._sources.require_own_facts(path)
        checks = self.asked(path, facts)
        if not checks:
            return {}
        texts = accumulate(split_path(facts.receivers[number - 1]), "{}.{}".format)
        return {at: checks[text] for at, text in enumerate(texts) if text in checks}

    def asked(self, path: RepoPath, facts: ForeignFile) -> Mapping[str, list[str]]:
        """Receiver → what the code of a file asks whether it is: a class, or a function that says what it is,
        with MADE behind; with a dot before it one that the receiver has."""
        spec = self._linker.spec(facts)
        if not spec.types.type_guards:
            return facts.type_tests
        answers, key = self._sources.memo.table(_NARROWED), (path, facts.blob)
        if key not in answers:
            checks = {value: [*tests] for value, tests in facts.type_tests.items()}
            guards = self._guards(spec)
            for value, what in self._calls(facts, guards) if guards else ():
                checks.setdefault(value, []).append(what)
            answers[key] = checks
        return answers[key]

    def _guards(self, spec: LanguageSpec) -> dict[str, set[str]]:
        """The names of all functions that say of what type something is, with those of what is meant."""
        find_signatures, pattern = self._sources.signed, spec.types.type_guards
        return self._sources.once(
            _TYPE_GUARDS, pattern, lambda: find_signatures(spec.types.type_guard_word, pattern)
        )

    def _calls(self, facts: ForeignFile, guards: Mapping[str, set[str]]) -> Iterator[tuple[str, str]]:
        """What is given to such functions, and what has those that are asked of it."""
        aliases = {item.alias: guards[item.name] for item in facts.imports if item.name in guards}
        guards = {**guards, **aliases}
        for holder, name, _, values in self._sources.type_tests(facts, guards):
            if holder and _ITSELF in guards[name]:
                yield holder, f".{name}{MADE}"
            call_text = f"{holder}.{name}{MADE}" if holder else f"{name}{MADE}"
            for value in values if guards[name] != {_ITSELF} else ():
                yield value, call_text

    def may_mean_another(self, path: RepoPath, asked: Iterable[str], owner: Target, name: str) -> bool:
        """Whether a value of a class may be of a type that has another member of the name."""
        member = self._linker.classes.member
        types = [target for what in asked for target in self._types(path, what, owner)]
        own = member(owner, name) if types else UNRESOLVED
        return any(
            self._has_another(owner, name) if one == AMBIGUOUS else member(one, name) not in (UNRESOLVED, own)
            for one in types
        )

    def _types(self, path: RepoPath, what: str, owner: Target) -> list[Target]:
        """The types that are asked for, AMBIGUOUS for those that cannot be said."""
        if not what.endswith(MADE):
            return [self._said(path, 0, what) or AMBIGUOUS]
        name = what.removesuffix(MADE)
        is_own = name.startswith(".")
        if is_own:
            functions = known(self._linker.classes.member(owner, name[1:]))
        else:
            functions = known(self._linker.written(path, 0, name))
            if not functions:
                return [AMBIGUOUS]  # such a function has the name
        return [target for place in functions for target in self._guarded(place, is_own)]

    def _guarded(self, place: Place, is_own: bool) -> list[Target]:
        """The types that a function says its argument, or its receiver, is one of."""
        facts = self._sources.facts(place.path)
        item = facts.definitions[place.definition] if facts and place.definition >= 0 else None
        guards = self._linker.spec(facts).types.type_guards if facts is not None else ""
        guard = re.search(guards, item.signature, re.DOTALL) if item is not None and guards else None
        if facts is None or item is None or guard is None or (guard[1] == _ITSELF) != is_own:
            return []
        spec = self._linker.spec(facts)
        parts = [part for part in guard[2].split("|") if part.strip() not in spec.types.primitive_types]
        said = [spec.types.declared_type(part, facts.full_names) for part in parts]
        return [self._said(place.path, item.scope, text) or AMBIGUOUS for text in said]

    def _has_another(self, owner: Target, name: str) -> bool:
        """Whether something that is neither a class nor a base of it has a member of the name."""
        answers, key = self._sources.memo.table(_HAS_ANOTHER), (owner, name)
        if key not in answers:
            order = {place for one in self._linker.classes.order(owner) for place in one}
            classes = [place for place, kind in self._sources.held(name) if kind in CLASSES]
            answers[key] = any(place not in order for place in classes)
        return answers[key]
