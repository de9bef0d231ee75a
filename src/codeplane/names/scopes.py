"""What the classes and namespaces around a name bring to it, or may hide from it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from codeplane.core.kinds import CLASSES, SPACES
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.index.view.foreign import ForeignFile
from codeplane.languages.facts import FLAG_STATIC, ScopeKind
from codeplane.names.meaning import AMBIGUOUS, UNRESOLVED, Target, known

if TYPE_CHECKING:
    from codeplane.names.imports import ImportResolver


class EnclosingScopes:
    """Looks outward from a place in a file, through the definitions that enclose it."""

    def __init__(self, linker: "ImportResolver") -> None:
        self._linker = linker

    def inherited(self, path: RepoPath, facts: ForeignFile, scope: int, name: str) -> Target:
        """A member that a class around has from its bases, where members are seen without a receiver."""
        spec = self._linker.spec(facts)
        if spec.scopes.members_visible != "nested":
            return UNRESOLVED
        is_static = False
        for around in self._around(facts, scope):
            target = UNRESOLVED
            if self.is_open(facts, around):
                owner = self.owner(path, facts, around)
                target = self._without_receiver(owner, name) if owner else AMBIGUOUS
            elif facts.definitions[around].kind in CLASSES:
                target = self._without_receiver((Place(path, around),), name)
            if target:
                # Of what a class around has, a static one sees types alone.
                is_seen = not is_static or all(self._linker.definition_kind(one) in CLASSES for one in target)
                return target if is_seen else AMBIGUOUS
            is_static = is_static or (
                spec.scopes.static_nested_classes
                and facts.definitions[around].kind in CLASSES
                and bool(facts.definitions[around].flags & FLAG_STATIC)
            )
        return UNRESOLVED

    def may_hide(self, path: RepoPath, scopes: tuple[int, int], name: str) -> bool:
        """Whether a class from an inner to an outer scope has or may have the name from a base, or a star
        import in a scope on the way brings it or may bring it."""
        facts = self._linker.sources.require_facts(path)
        at, last = scopes
        spec = self._linker.spec(facts)
        if (spec.scopes.opaque_scopes or spec.scopes.star_imports_hide) and self.may_bring(
            path, facts, scopes, name
        ):
            return True
        while at >= last and at >= 0:
            opener = facts.opened_by.get(at)
            if opener is not None and self.is_open(facts, opener):
                return True
            is_class = (
                facts.scopes.kind(at) == ScopeKind.CLASS and not self._linker.spec(facts).scopes.methods_apart
            )
            if is_class and (opener is None or self._has_from_base(Place(path, opener), name)):
                return True
            at = facts.scopes.parent(at)
        return False

    def may_bring(self, path: RepoPath, facts: ForeignFile, scopes: tuple[int, int], name: str) -> bool:
        inner, last = scopes
        between = {scope for scope in self._linker.outward(facts, inner) if scope > last}
        stars = [at for at in facts.stars if facts.imports[at].scope in between]
        is_open = any(not known(self._linker.imported(path, at)) for at in stars)
        return is_open or self._linker.starred(path, stars, name) != UNRESOLVED

    def owner(self, path: RepoPath, facts: ForeignFile, at: int) -> Target:
        """The class that a definition outside of it belongs to."""
        item = facts.definitions[at]
        target = known(self._linker.written(path, item.scope, item.owner)) if item.owner else UNRESOLVED
        return target if all(self._linker.definition_kind(one) in CLASSES for one in target) else UNRESOLVED

    def is_open(self, facts: ForeignFile, at: int) -> bool:
        """Whether names come into a definition from what other files say: a namespace that they add to, a
        function that belongs to a class elsewhere."""
        item = facts.definitions[at]
        return self._linker.spec(facts).scopes.open_functions and (item.kind in SPACES or item.owner != "")

    def _without_receiver(self, owner: Target, name: str) -> Target:
        """A member of a class around. A base that depends on a parameter of the class is not looked at."""
        member = self._linker.classes.member(owner, name)
        if member and any(map(self._has_dependent_bases, owner)):
            return AMBIGUOUS if self._linker.classes.member(owner, name, of_bases=True) else member
        return member

    def _has_dependent_bases(self, place: Place) -> bool:
        facts = self._linker.sources.facts(place.path)
        if facts is None or not self._linker.spec(facts).scopes.open_functions:
            return False
        item = facts.definitions[place.definition]
        header = item.signature.replace(" ", "")
        if not any(f"{base}<" in header for base in item.bases):
            return False
        return item.body in facts.parameters

    def _has_from_base(self, place: Place, name: str) -> bool:
        facts = self._linker.sources.require_facts(place.path)
        item, spec = facts.definitions[place.definition], self._linker.spec(facts)
        implicit_names = spec.scopes.implicit_members.get(item.kind, "").split()
        return name in implicit_names or self._linker.classes.may_hide(place, name)

    def _around(self, facts: ForeignFile, scope: int) -> Iterator[int]:
        """The definitions that open the scopes around, inner ones first."""
        while scope >= 0:
            if scope in facts.opened_by:
                yield facts.opened_by[scope]
            scope = facts.scopes.parent(scope)
