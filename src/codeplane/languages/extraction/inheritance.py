"""What the classes of one file inherit, for languages where inherited members are seen without a receiver."""

import re
from collections.abc import Callable, Mapping

from codeplane.languages.extraction.binds import BindDraft, Binder
from codeplane.languages.extraction.outline import Draft
from codeplane.languages.facts import FLAG_PRIVATE, Reason, ScopeKind

_DEEPEST = 30  # classes that are followed from base to base
_MOST = 2_000  # inherited names that are kept for a class
_FUNCTIONS = ("method", "constructor")
_NAME = re.compile(rb"[^\W\d]\w*|[A-Za-z_\x80-\xff][\w\x80-\xff]*")

Find = Callable[[bytes, int, int], int]
"""The bind that the name of a type means at a position in a scope, 1 + its number, or 0."""

Inherited = Mapping[bytes, int]
"""Key of a member → 1 + its bind, or 0 where it is not known which."""


class Inheritance:
    """Follows the bases of classes as far as they are in the file."""

    def __init__(self, binder: Binder, find: Find) -> None:
        self.binder, self._find = binder, find
        self._by_scope: dict[int, Inherited | None] = {}
        self._depth = 0

    def counts(self, scope: int) -> bool:
        """Whether names come from elsewhere into a scope: a class, a namespace, a function that says which
        class it belongs to."""
        kind = self.binder.outline.kinds[scope]
        if not self.binder.spec.scopes.open_functions:
            return kind == ScopeKind.CLASS
        if kind == ScopeKind.FUNCTION:
            at = self.binder.body_of.get(scope, -1)
            return at >= 0 and self.binder.outline.drafts[at].owner[0] >= 0
        return kind in (ScopeKind.CLASS, ScopeKind.NAMESPACE)

    def of(self, scope: int) -> Inherited | None:
        """What the class with this scope inherits; None where a base is not in the file."""
        if scope not in self._by_scope:
            self._by_scope[scope] = None  # a class that inherits from itself is told nothing
            if self._depth < _DEEPEST:
                self._depth += 1
                self._by_scope[scope] = self._read_bases(scope)
                self._depth -= 1
        return self._by_scope[scope]

    def _read_bases(self, scope: int) -> Inherited | None:
        at = self.binder.body_of.get(scope, -1)
        if at < 0:
            return None
        draft = self.binder.outline.drafts[at]
        if draft.opens_group or draft.more:
            return None  # another part of the class may have more bases
        spec = self.binder.spec
        if spec.scopes.open_functions and draft.kind == "namespace":
            return None  # other files add to it
        if spec.scopes.open_functions and draft.owner[0] >= 0:
            return self._members_of_owner(draft)
        names = spec.scopes.implicit_members.get(draft.kind, "").encode().split()
        kinds = ("method", "property")
        table = {key: 0 for name in names for kind in kinds for key in self.binder.keys(name, kind)}
        for start, end in draft.bases:
            base = self._base_draft(start, end)
            members = self.of(base.body) if base else None
            if base is None or members is None or len(table) + len(members) > _MOST:
                return None
            self._join_members(table, members)
            self._join_members(table, self._own_members(base, members))
        return table

    def _members_of_owner(self, draft: Draft) -> Inherited | None:
        """What a function outside of its class sees of it. A specialized class is told nothing."""
        owner = self._base_draft(*draft.owner, draft.scope) if draft.kind in _FUNCTIONS else None
        members = self.of(owner.body) if owner and owner.kind != "namespace" else None
        if owner is None or members is None:
            return None
        type_parameters = self.binder.type_params.get(owner.body, {})
        own = self.binder.tables[owner.body]
        return {**members, **{key: target for key, target in own.items() if key not in type_parameters}}

    def _base_draft(self, start: int, end: int, scope: int = -1) -> Draft | None:
        """The class in this file that a base is."""
        name = self.binder.data[start:end]
        target = self._find(name, start, scope) if _NAME.fullmatch(name) else 0
        bind = self.binder.binds[target - 1] if target else None
        if bind is None or bind.reason != Reason.DEF_IN_SCOPE or not bind.certain:
            return None
        draft = self.binder.outline.drafts[bind.target]
        return draft if draft.body >= 0 else None

    def _own_members(self, base: Draft, inherited: Inherited) -> dict[bytes, int]:
        own: dict[bytes, int] = {}
        for key, target in self.binder.tables[base.body].items():
            bind = self.binder.binds[target - 1]
            if not self._is_private(bind):
                own[key] = 0 if inherited.get(key, target) != target and self.overloads(bind) else target
        return own

    def _is_private(self, bind: BindDraft) -> bool:
        """Whether it stays in the class: a type parameter, or what is private."""
        if bind.reason != Reason.DEF_IN_SCOPE:
            return True
        return bool(self.binder.outline.drafts[bind.target].flags & FLAG_PRIVATE)

    def overloads(self, bind: BindDraft) -> bool:
        """Whether a definition of the same name in a base may be meant as well."""
        if bind.reason != Reason.DEF_IN_SCOPE:
            return False
        return self.binder.outline.drafts[bind.target].kind in self.binder.spec.scopes.overloaded_kinds

    @staticmethod
    def _join_members(found: dict[bytes, int], more: Inherited) -> None:
        for key, target in more.items():
            found[key] = target if found.get(key, target) == target else 0
