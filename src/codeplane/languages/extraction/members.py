"""Members of classes: fields made by `self.x = …`, what they hold, and which definition `self.x` is."""

import re
from collections.abc import Sequence

from tree_sitter import Node

from codeplane.languages.extraction.binds import BindDraft, Binder
from codeplane.languages.extraction.field_types import FieldTypes
from codeplane.languages.extraction.outline import Draft
from codeplane.languages.facts import FLAG_ASIDE, FLAG_STATIC, OTHER_TYPE, Reason, Role, ScopeKind

_AMBIGUOUS = -1
_NO_OTHER = (b"Self", b"Any")  # a receiver that is declared as one of these is what it is anyway
_SEVERAL = OTHER_TYPE.encode()
_NEAR = 100  # bytes before a function without a name
_GIVING = (b"=", b"property(")
_FIXED = frozenset(("method", "class"))
_REBINDABLE = frozenset(("field", "property", "variable", "constant", "enum_member"))


class Members:
    """The members of the classes of one file, found through the receiver."""

    def __init__(self, binder: Binder, deleted: Sequence[Node] = ()) -> None:
        self.binder = binder
        self.outline = binder.outline
        self.parameters = {name.encode() for name in binder.spec.scopes.self_parameters}
        self.classes = {name.encode() for name in binder.spec.scopes.class_keywords}
        self.keywords = {name.encode() for name in binder.spec.scopes.self_keywords} | self.classes
        if binder.spec.scopes.methods_apart:
            self.parameters, self.classes, self.keywords = set(), set(), set()
        self.receivers = self.parameters | self.keywords
        self.by_class: dict[int, dict[bytes, int]] = {}  # draft of the class → name → draft of the member
        self.by_position: dict[int, int] = {}  # start of `x` in the `self.x = …` that defines it → draft
        self.numbers: list[int] = []  # draft → definition
        self._targets: dict[int, dict[bytes, int]] = {}
        self._owners: dict[tuple[int, bytes], int] = {}
        self.held = FieldTypes(binder)
        apart = FLAG_STATIC if binder.spec.scopes.static_members_apart else 0
        for at, draft in enumerate(self.outline.drafts):
            is_member = draft.name[0] >= 0 and draft.parent >= 0 and not draft.flags & apart
            if is_member and self._is_direct(draft):
                for key in binder.keys(binder.data[draft.name[0] : draft.name[1]], draft.kind):
                    self._add_member(draft.parent, key, at, draft.more)
        for node in deleted:
            self._delete_member(
                binder.data[node.start_byte : node.end_byte], self.outline.place(node.start_byte)[0]
            )
        for owner, members in self.by_class.items():
            self._doubt_rebound(self.outline.drafts[owner].body, members)
        self.held.begin(self.by_class)

    def _is_direct(self, draft: Draft) -> bool:
        """Whether it stands in the class itself, not in a nameless class inside of it."""
        return draft.scope == self.outline.drafts[draft.parent].body

    def _delete_member(self, written: bytes, scope: int) -> None:
        """A name that a class has no more, whatever it was: `x` in its body, or `Class.x` behind it."""
        owner, dot, name = written.rpartition(b".")
        tables, binds = self.binder.tables, self.binder.binds
        if dot:
            target = tables[scope].get(owner, 0) or tables[0].get(owner, 0)
            is_here = target and binds[target - 1].reason is Reason.DEF_IN_SCOPE
            scope = self.outline.drafts[binds[target - 1].target].body if is_here else -1
        if (
            scope >= 0
            and self.outline.kinds[scope] is ScopeKind.CLASS
            and (variable := tables[scope].get(name))
        ):
            binds[variable - 1].certain = False
            self.by_class.get(self.binder.body_of[scope], {})[name] = _AMBIGUOUS

    def _doubt_rebound(self, body: int, members: dict[bytes, int]) -> None:
        """What a class binds once more or deletes may be something else in the end, or nothing."""
        table = self.binder.tables[body] if body >= 0 else {}
        for name in members.keys() & table.keys():
            bind = self.binder.binds[table[name] - 1] if table[name] else None
            is_fixed = members[name] >= 0 and self.outline.drafts[members[name]].kind in _FIXED
            if is_fixed and bind is not None and not bind.certain:
                members[name] = _AMBIGUOUS

    def _add_member(self, owner: int, name: bytes, at: int, more: bool = False) -> None:
        members = self.by_class.setdefault(owner, {})
        if name not in members:
            members[name] = at
        elif not more and not self._is_implementation(members[name], at):
            members[name] = _AMBIGUOUS

    def _is_implementation(self, first: int, at: int) -> bool:
        """Whether a method is the one whose signatures stand before it."""
        draft, drafts = self.outline.drafts[at], self.outline.drafts
        draft.more = first >= 0 and drafts[first].more and drafts[first].kind == draft.kind
        return draft.more

    def assign(self, start: int, end: int, receiver: bytes, scope: int) -> Role:
        """Takes note of `self.x = …`: the first one defines the field."""
        owner = self.owner(scope, receiver)
        if owner < 0:
            return Role.WRITE
        name = self.binder.data[start:end]
        earlier = self.by_class.get(owner, {}).get(name)
        if earlier is not None:
            if earlier >= 0 and self.outline.drafts[earlier].kind not in _REBINDABLE:
                self.by_class[owner][name] = _AMBIGUOUS
            else:
                self.held.give(earlier, start, end, scope)
            if earlier >= 0 and not self._is_aside(scope):
                self.outline.drafts[earlier].flags &= ~FLAG_ASIDE
            return Role.WRITE
        span = self.binder.declaration(start, end) or (start, end)
        draft = Draft("field", *span, self.outline.drafts[owner].body, owner)
        draft.name = (start, end)
        draft.flags = FLAG_ASIDE if self._is_aside(scope) else 0
        draft.annotation = self.binder.member_types.get(start, b"").decode("utf-8", "surrogateescape")
        self._add_member(owner, name, len(self.outline.drafts))
        self.by_position[start] = len(self.outline.drafts)
        self.outline.drafts.append(draft)
        self.held.make(len(self.outline.drafts) - 1, start, end, scope)
        return Role.DEFINE

    def _is_aside(self, scope: int) -> bool:
        """Whether code in a scope gives values to what bases have, and makes no members but those."""
        made_in = self.binder.spec.types.fields_made_in
        if not made_in:
            return False
        outline = self.outline
        while scope > 0 and (outline.kinds[scope] != ScopeKind.FUNCTION or scope in outline.arrows):
            scope = outline.parents[scope]
        if scope <= 0 or outline.kinds[outline.parents[scope]] != ScopeKind.CLASS:
            return True
        method = self.binder.body_of.get(scope, -1)
        return made_in == "constructor" and method >= 0 and outline.drafts[method].kind != "constructor"

    def change(self, start: int, end: int, receiver: bytes, scope: int) -> None:
        """Takes note of a field that gets a value in some other way: `self.x += 1`."""
        field = self.by_class.get(self.owner(scope, receiver), {}).get(self.binder.data[start:end], -1)
        self.held.change(field)

    def find(self, scope: int, receiver: bytes, name: bytes) -> int:
        """The number of the definition that `receiver.name` is proven to be, or -1."""
        return self.targets(scope, receiver).get(name, 0) - 1

    def targets(self, scope: int, receiver: bytes) -> dict[bytes, int]:
        """Name → 1 + the definition, for all members that the receiver is proven to have."""
        owner = self.owner(scope, receiver)
        numbers = self._targets.get(owner)
        if numbers is None:
            members = self.by_class.get(owner, {})
            numbers = {name: self.numbers[at] + 1 for name, at in members.items() if at >= 0}
            self._targets[owner] = numbers
        return numbers

    def number(self) -> None:
        """Gives the drafts that have a name their place among the definitions, and fields what they hold."""
        self.held.say()
        count = 0
        for draft in self.outline.drafts:
            self.numbers.append(count if draft.name[0] >= 0 else -1)
            count += draft.name[0] >= 0

    def owner(self, scope: int, receiver: bytes) -> int:
        """The draft of the class whose instance the receiver is, or -1."""
        key = (scope, receiver)
        owner = self._owners.get(key)
        if owner is None:
            find = self._of_keyword if receiver in self.keywords else self._of_parameter
            owner = self._owners[key] = find(scope, receiver) if receiver in self.receivers else -1
        return owner

    def _class_around(self, function: int, is_class: bool = False) -> int:
        parent = self.outline.parents[function]
        method = self.binder.body_of.get(function, -1)
        if parent < 0 or self.outline.kinds[parent] != ScopeKind.CLASS or function in self.binder.open:
            return -1
        if method >= 0 and self.outline.drafts[method].flags & FLAG_STATIC and not is_class:
            return -1
        owner = self.binder.body_of.get(parent, -1)
        return owner if method < 0 or owner < 0 or self._is_receiver(owner, method) else -1

    def _is_receiver(self, owner: int, method: int) -> bool:
        """Whether a method does not declare its receiver as something else than an instance of its class."""
        pattern, drafts, data = self.binder.spec.scopes.declared_self, self.outline.drafts, self.binder.data
        match = re.compile(pattern.encode()).match(data, drafts[method].name[1]) if pattern else None
        return match is None or match[1] == data[slice(*drafts[owner].name)]

    def _of_parameter(self, scope: int, receiver: bytes) -> int:
        """The receiver has to be the first parameter of a method and may not be bound again."""
        while scope >= 0:
            if target := self.binder.tables[scope].get(receiver, 0):
                bind = self.binder.binds[target - 1]
                first = self.binder.first_params.get(scope) == receiver
                owner = self._class_around(scope) if first and bind.count == 1 else -1
                is_method = owner >= 0 and (scope in self.binder.body_of or self._is_given(scope))
                return owner if is_method and self._may_be(bind, owner) else -1
            if receiver in self.binder.tables[scope]:
                return -1
            scope = self.outline.parents[scope]
        return -1

    def _is_given(self, scope: int) -> bool:
        """Whether a function without a name is given to one of the class, or to one that makes a property."""
        start = self.outline.spans[scope][0]
        return self.binder.data[max(start - _NEAR, 0) : start].rstrip().endswith(_GIVING)

    def _may_be(self, bind: BindDraft, owner: int) -> bool:
        """Whether the type that a receiver is declared as, if it is, cannot be a class other than the one
        around. What an import brings may be one."""
        for annotation in bind.annotations:
            if annotation == _SEVERAL:
                return False
            target = self.binder.tables[0].get(annotation.partition(b".")[0], 0)
            is_open = target and annotation.rpartition(b".")[2] not in _NO_OTHER
            other = self.binder.binds[target - 1] if is_open else None
            if other is not None and other.target != owner and self._is_class(other):
                return False
            # A variable for types may stand for a base: its members are told with the bases.
            is_variable = other is not None and other.reason is Reason.DEF_IN_SCOPE and other.target != owner
            if is_variable and self.outline.drafts[owner].bases:
                return False
        return True

    def _is_class(self, bind: BindDraft) -> bool:
        is_here = bind.reason is Reason.DEF_IN_SCOPE
        return (
            self.outline.drafts[bind.target].kind == "class"
            if is_here
            else bind.reason is Reason.IMPORT_ALIAS
        )

    def _of_keyword(self, scope: int, receiver: bytes) -> int:
        kinds, arrows = self.outline.kinds, self.outline.arrows
        moves = self.binder.spec.scopes.rebinds_self
        while scope >= 0:
            if moves and (kinds[scope] == ScopeKind.CLASS or scope in arrows):
                return -1
            if kinds[scope] == ScopeKind.CLASS:
                return self.binder.body_of.get(scope, -1)
            if kinds[scope] == ScopeKind.FUNCTION and scope not in arrows:
                return self._class_around(scope, receiver in self.classes)
            scope = self.outline.parents[scope]
        return -1
