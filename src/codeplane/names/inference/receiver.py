"""What `self` and its like stand for, and whose class the code asks about."""

import re
from typing import Final

from codeplane.core.kinds import CLASSES, split_path
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.slots import ContentSlot, InterfaceSlot
from codeplane.index.view.files import FileFacts
from codeplane.index.view.foreign import ForeignFile
from codeplane.languages import LanguageSpec
from codeplane.languages.facts import FLAG_STATIC, OTHER_TYPE, Occurrence, Reason, ScopeKind
from codeplane.languages.foreign import ForeignBind
from codeplane.names.imports import ImportResolver
from codeplane.names.meaning import UNRESOLVED, Target, known
from codeplane.parsing.foreign import name_alone

_ITSELF: Final = ("Self", "Any", "Type")
_NARROWED_SCOPES: Final = ContentSlot[set[int]]("scopes that narrow their receiver")
_RECEIVER: Final = InterfaceSlot[tuple[str, int, int], Target]("class of a receiver parameter")


class Receivers:
    """Finds the class behind a receiver from the scopes around it."""

    def __init__(self, linker: ImportResolver) -> None:
        self._linker = linker
        self._sources = linker.sources

    def is_narrowed(self, facts: FileFacts, seen: Occurrence) -> bool:
        """Whether the code around asks for the class of the receiver: that may be a derived one."""
        spec = self._linker.spec(facts)
        if (
            not spec.types.narrowing_calls
            or facts.receivers[seen.receiver - 1] not in spec.scopes.self_parameters
        ):
            return False
        scopes = facts.derived(
            _NARROWED_SCOPES,
            lambda: self._narrowing_scopes(facts, spec),
        )
        return bool(scopes) and any(scope in scopes for scope in self._linker.outward(facts, seen.scope))

    def _narrowing_scopes(self, facts: FileFacts, spec: LanguageSpec) -> set[int]:
        """The scopes that ask for the class of a receiver parameter; `isinstance(self.x, …)` asks for that of
        something else."""
        occurrences = self._sources.occurrences_of(facts)
        alone = [name_alone(occurrences, at) for at in occurrences.places_of(spec.types.narrowing_calls)]
        parameters = spec.scopes.self_parameters
        return {
            occurrences.scopes[at]
            for at in alone
            if at >= 0 and occurrences.texts[occurrences.names[at]] in parameters
        }

    def class_around(self, path: RepoPath, facts: ForeignFile, scope: int) -> Target:
        """The class whose instance `this` is in a scope."""
        moves = self._linker.spec(facts).scopes.rebinds_self
        while scope > 0:
            kind, parent = facts.scopes.kind(scope), facts.scopes.parent(scope)
            if moves and (kind in (ScopeKind.CLASS, ScopeKind.ARROW) or self._is_static(facts, scope)):
                return UNRESOLVED
            if kind == ScopeKind.CLASS:
                return self._class_of(path, facts, scope)
            if kind == ScopeKind.FUNCTION:
                is_method = parent >= 0 and facts.scopes.kind(parent) == ScopeKind.CLASS
                opener = facts.opened_by.get(scope)
                if opener is not None and self._linker.around.is_open(facts, opener):
                    return self._linker.around.owner(path, facts, opener)
                # A function without a name, or one that extends another type, has another receiver.
                is_method = is_method and opener is not None and not facts.definitions[opener].owner
                owner = self._class_of(path, facts, parent) if is_method else UNRESOLVED
                return owner if opener is None or self._is_receiver(facts, opener, owner) else UNRESOLVED
            scope = parent
        return UNRESOLVED

    def _is_receiver(self, facts: ForeignFile, method: int, owner: Target) -> bool:
        """Whether a method does not declare its receiver as something else than an instance of its class."""
        pattern = self._linker.spec(facts).scopes.declared_self
        if not pattern or not owner:
            return True
        item = facts.definitions[method]
        said = re.search(rf"(?<![\w$]){re.escape(item.name)}\s*{pattern}", item.signature)
        return said is None or said[1] == facts.definitions[owner[0].definition].name

    def is_in_static(self, facts: ForeignFile, scope: int) -> bool:
        """Whether the nearest function that is no arrow belongs to the class itself."""
        while scope > 0 and facts.scopes.kind(scope) != ScopeKind.FUNCTION:
            scope = facts.scopes.parent(scope)
        return self._is_static(facts, scope)

    def _is_static(self, facts: ForeignFile, scope: int) -> bool:
        at = facts.opened_by.get(scope)
        return at is not None and bool(facts.definitions[at].flags & FLAG_STATIC)

    def _class_of(self, path: RepoPath, facts: ForeignFile, scope: int) -> Target:
        at = facts.opened_by.get(scope)
        if at is None:
            return UNRESOLVED
        item = facts.definitions[at]
        if item.kind == "impl":
            return known(self._linker.written(path, item.scope, item.owner))
        return (Place(path, at),)

    def receiver_class(self, path: RepoPath, facts: ForeignFile, at: int) -> Target:
        """The class, where a parameter is the receiver of one of its methods and is never replaced."""
        if facts.binds[at].name not in self._linker.spec(facts).scopes.self_parameters:
            return UNRESOLVED
        # Every `self.name` of a method asks this.
        key = (path, facts.blob, at)
        return known(self._linker.once(_RECEIVER, key, lambda: self._find_receiver_class(path, facts, at)))

    def _find_receiver_class(self, path: RepoPath, facts: ForeignFile, at: int) -> Target:
        bind = facts.binds[at]
        parent = facts.scopes.parent(bind.scope)
        method = facts.opened_by.get(bind.scope)
        if parent < 0 or facts.scopes.kind(parent) != ScopeKind.CLASS or method is None:
            return UNRESOLVED
        is_first = facts.parameters[bind.scope][0] == bind.name
        if facts.definitions[method].flags & FLAG_STATIC or not is_first:
            return UNRESOLVED
        if at in self._sources.rebound(facts):
            return UNRESOLVED
        owner = self._class_of(path, facts, parent)
        return owner if self._is_declared_as(owner, path, bind, parent) else UNRESOLVED

    def _is_declared_as(self, owner: Target, path: RepoPath, bind: ForeignBind, scope: int) -> bool:
        """Whether a receiver is not declared as another class. A variable for types leaves it what it is."""
        if bind.type_name == OTHER_TYPE or self._is_from_outside(path, bind.type_name):
            return False
        said = known(self._linker.written(path, scope, bind.type_name)) if bind.type_name else UNRESOLVED
        return said == owner or not any(self._linker.definition_kind(one) in CLASSES for one in said)

    def is_bound(self, path: RepoPath, bind: ForeignBind, owner: Target) -> bool:
        """Whether a receiver is declared by a variable for types, which may stand for a base of its class."""
        last = split_path(bind.type_name)[-1]
        return bool(last) and last not in _ITSELF and self._linker.written(path, 0, bind.type_name) != owner

    def _is_from_outside(self, path: RepoPath, name: str) -> bool:
        """Whether a type is imported from elsewhere: another class, or a choice of several. Some only say
        that a receiver is what it is."""
        facts, (first, *rest) = self._sources.facts(path), split_path(name)
        bind = facts.named(0, first) if facts is not None else None
        if facts is None or bind is None or bind.reason != Reason.IMPORT_ALIAS:
            return False
        last = rest[-1] if rest else facts.full_names.get(first, "").rpartition(".")[2]
        return last not in _ITSELF and not known(self._linker.imported(path, bind.target))
