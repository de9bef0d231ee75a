"""The occurrences of names: one loop over all identifiers of a file, and the lookup that it uses."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import accumulate, compress, count, islice, repeat
from operator import lt

from tree_sitter import Node

from codeplane.languages.extraction.binds import UNRESOLVED, BindDraft, Binder, Special, space_key
from codeplane.languages.extraction.inheritance import Inheritance
from codeplane.languages.extraction.members import Members
from codeplane.languages.extraction.outline import TOO_DEEP, WHOLE
from codeplane.languages.extraction.receivers import shape
from codeplane.languages.facts import FLAG_STATIC, Occurrences, Reason, Role, ScopeKind

_SEPARATORS = b" \t\r\n\\.?!:->&"
_END = 1 << 62
_LOOK = 400  # longer receivers are not looked at: chains would cost the square of their length
_NESTED = 16  # tables
_CALLS = bytes(int(Role.CALL) if char == ord("(") else 0 for char in range(256))
_LATER = -1  # the target of what is looked up in the order of the file
_LOCALS = (Reason.LOCAL_ASSIGN, Reason.PARAM)
_QUALIFIER = ord("\\")  # right before a name: what is before it is a namespace
_CLASS = ScopeKind.CLASS  # reading it off the enumeration costs more than the test
_TYPES = ("class", "interface", "object", "enum", "enum_member", "type")
_WALLS = (ScopeKind.FUNCTION, ScopeKind.CLASS)
KEYWORD_RECEIVER = b"="
NEW = 8  # added to the role of a call: what is constructed is looked up as `new`
CLASS, NAMESPACE = 8, 16  # added to the role of a type: it is looked up as `class` or `namespace`
RAW_RECEIVER = b"#"
# How a language calls what it looks up → the role, with what is added to it.
_LOOKED = {role.name.lower(): int(role) for role in Role} | {
    "new": int(Role.CALL) + NEW,
    "class": int(Role.TYPE) + CLASS,
    "namespace": int(Role.TYPE) + NAMESPACE,
}
IMPLIED = -2  # found: a member of a receiver that nobody says, perhaps
IMPLIED_RECEIVER = b"{}"


class _Chain:
    """Tables that are too many to be asked all for every name."""

    def __init__(self, tables: tuple[dict[bytes, int], ...]) -> None:
        self._tables_outward = tables

    def get(self, name: bytes) -> int:
        for table in self._tables_outward:
            if name in table:
                return table[name]
        return 0


class Lookup:
    """Finds the bind that a name means at a place."""

    def __init__(self, binder: Binder) -> None:
        self.binder = binder
        outline, spec = binder.outline, binder.spec
        self.parents, self.kinds = outline.parents, outline.kinds
        self.hides = spec.scopes.members_visible != "nested"
        self.ordered = tuple(spec.scopes.ordered_scopes)  # members of an enumeration are slow to hash
        self.declared = tuple(spec.scopes.declared_scopes)
        # Target → the position from where it counts for code that stands directly in its scope.
        counts = [kind in self.ordered or kind in self.declared for kind in outline.kinds]
        self.effective = [0] + [bind.effective if counts[bind.scope] else 0 for bind in binder.binds]
        self.sequential = bool(spec.scopes.sequential_scopes)
        self._bases_first = spec.scopes.inherited_before_file
        self._chains: dict[int, tuple[dict[bytes, int], ...]] = {}
        self.has_spaces = bool(spec.scopes.name_spaces)
        self._islands = tuple(spec.scopes.opaque_scopes)
        self._looks = {_LOOKED[role]: spaces for role, spaces in spec.scopes.lookup_spaces.items()}
        # Whether what has no mark is a value, whose key is its name.
        value_spaces = {"read", "call"} & set(spec.scopes.lookup_spaces)
        self._values_apart = not self.has_spaces or not (value_spaces or spec.scopes.inherits_names)
        self._inheritance = Inheritance(binder, self._type_at) if spec.scopes.inherits_names else None
        self._open_functions = spec.scopes.open_functions
        self._twins: dict[int, int] = {}
        self._outward: dict[int, list[tuple[int, dict[bytes, int], bool]]] = {}
        self._targets: dict[tuple[bytes, tuple[int, int], int], int] = {}  # what holds wherever it stands
        self._walled = bool(self._islands) or binder.closed is not None  # scopes without names count too
        # Start and end of what is shared, of spans inside of each other the end of the outer one.
        ends = accumulate((end for _, end in sorted(outline.shared)), max)
        self._shared = [(start, end) for (start, _), end in zip(sorted(outline.shared), ends, strict=True)]
        self._timed = False  # whether what was found depends on the position

    def chain(self, scope: int) -> tuple[dict[bytes, int], ...]:
        """The tables that a name is looked up in, inner ones first."""
        tables = self._chains.get(scope)
        if tables is None:
            tables = self._chains[scope] = tuple(table for table in self._tables_outward(scope) if table)
        return tables

    def _tables_outward(self, scope: int) -> list[dict[bytes, int]]:
        joint_tables = self.binder.merged
        tables = [self.binder.tables[scope]]
        if scope in joint_tables:
            tables.append(joint_tables[scope])
        outer = self.parents[scope]
        while outer >= 0:
            tables.append(self._visible_table(outer, direct=False))
            if outer in joint_tables:
                tables.append(joint_tables[outer])
            outer = self.parents[outer]
        return tables

    def _visible_table(self, scope: int, direct: bool) -> dict[bytes, int]:
        """The names of a scope as seen from inside it. A class hides its members, not its parameters."""
        if self.hides and not direct and self.kinds[scope] is _CLASS:
            return self.binder.type_params.get(scope, {})
        return self.binder.tables[scope]

    def targets(self, scope: int, names: list[bytes]) -> Iterable[int]:
        """1 + the bind of each name as seen in a scope, or 0, but for names that do not count yet."""
        chain = self.chain(scope)
        if len(chain) > _NESTED:
            return map(_Chain(chain).get, names)
        # Each table is asked with the answer of the next outer one as its default, without a line of Python.
        answers: Iterable[int] = repeat(0)
        for table in reversed(chain):
            answers = map(table.get, names, answers)
        return islice(answers, len(names))

    def is_plain(self, skipped: int) -> bool:
        """Whether the table of the scope is the whole truth, but for names that do not count yet."""
        if self.sequential or not self._values_apart or skipped == TOO_DEEP:
            return False
        return skipped == WHOLE or skipped not in self.binder.type_params

    def find(self, name: bytes, position: int, place: tuple[int, int], role: int) -> int:
        """1 + the bind, or 0; for any place."""
        scope, type_scope = place
        if type_scope == TOO_DEEP:
            return 0
        if self.has_spaces:
            return self._find_spaced(name, position, place, role)
        if type_scope >= 0 and name in self.binder.type_params.get(type_scope, ()):
            return self.binder.type_params[type_scope][name]
        direct = True
        while scope >= 0:
            table = self._visible_table(scope, direct)
            if name in table:
                # Types and exports of a file may be read after all of it has run; of a class, who knows.
                late = role in (Role.TYPE, Role.EXPORT) and self.kinds[scope] in self.ordered
                target = self._seen_from(table[name], scope, position, direct and not (late and scope == 0))
                if target >= 0 or late:
                    return max(target, 0)
            elif name in self.binder.merged.get(scope, ()):
                return 0
            direct = False
            scope = self.parents[scope]
        return 0

    def _seen_from(self, found: int, scope: int, position: int, direct: bool) -> int:
        """The bind as seen from a position, or -1 where it does not count yet."""
        if not found:
            return 0
        bind = self.binder.binds[found - 1]
        if position < bind.effective and bind.scope == scope:
            kind = self.kinds[scope]
            if (direct and kind in self.ordered) or kind in self.declared:
                return -1
        shadows = self.binder.history.get((scope, bind.key))
        if shadows:
            return next((target for start, target in reversed(shadows) if start <= position), -1)
        return found

    def looks(self, role: int) -> tuple[str, ...]:
        """The groups of name spaces that a name in this role is looked up in, one after the other."""
        return self._looks.get(role, ("v",))

    def _find_spaced(self, name: bytes, position: int, place: tuple[int, int], role: int) -> int:
        key = (name, place, role)
        target = self._targets.get(key)
        if target is not None:
            return target
        target, doubt, around, self._timed = 0, False, self._timed, False
        for group in self.looks(role):
            weak = group.endswith("?")
            keys = [name] if group == "v" else [space_key(name, space) for space in group.rstrip("?")]
            target, doubt = self._walk_outward(keys, position, place, doubt)
            if target >= 0:
                doubt = doubt or (weak and target > 0 and self.binder.binds[target - 1].key == name)
                break
        doubt = doubt or (target > 0 and self._open_functions and self._is_open(target))
        if self.binder.open and role != Role.TYPE and self._is_implied(target, place[0]):
            target = IMPLIED
        elif doubt and target > 0:
            target = self.doubtful(target)
        else:
            target = max(target, 0)
        if not self._timed:
            self._targets[key] = target
        self._timed = around  # finding a base class may be part of finding a name
        return target

    def _is_implied(self, found: int, scope: int) -> bool:
        """Whether a receiver that nobody says goes before what was found."""
        holder = self.binder.binds[found - 1].scope if found > 0 else 0
        if found > 0 and self.kinds[holder] in (ScopeKind.FUNCTION, ScopeKind.BLOCK):
            return False
        while scope >= 0 and scope != holder:
            if scope in self.binder.open:
                return True
            scope = self.parents[scope]
        return False

    def _scopes_outward(self, scope: int) -> list[tuple[int, dict[bytes, int], bool]]:
        """The scopes from the inside out that bind or inherit something: number, table, whether a class."""
        steps = self._outward.get(scope)
        if steps is None:
            steps = self._outward[scope] = []
            inner = scope
            while inner >= 0:
                is_class = self._inheritance is not None and self._inheritance.counts(inner)
                counts = self._walled or is_class or inner in self.binder.merged
                if counts or self.binder.tables[inner]:
                    steps.append((inner, self.binder.tables[inner], is_class))
                inner = self.parents[inner]
        return steps

    def _walk_outward(
        self, keys: list[bytes], position: int, place: tuple[int, int], doubt: bool
    ) -> tuple[int, bool]:
        """1 + the bind, 0 where it is known not to be one, -1 where there is none; whether to doubt it."""
        params = self.binder.type_params.get(place[1], {}) if place[1] >= 0 else {}
        for key in keys:
            if key in params:
                return params[key], doubt
        is_closed = self.binder.closed is not None and self.binder.closed(keys[0])
        history = self.binder.history
        island = static = False
        for scope, table, is_class in self._scopes_outward(place[0]):
            target = -1
            for key in keys:
                if key in table:
                    self._timed = self._timed or bool(self.declared) or (scope, key) in history
                    visible = self._seen_from(table[key], scope, position, False)
                    if visible > 0 and island and self._is_local(visible, scope):
                        continue
                    doubt = doubt or (-1 not in (visible, target) and visible != target)
                    target = max(target, visible)
            if target > 0 and static and self._is_of_instance(target):
                return 0, doubt
            if target >= 0:
                doubt = doubt or (scope == 0 and self._bases_first and self._has_bases(place[0]))
                return target, doubt or (is_class and self._may_be_inherited(scope, keys, target))
            if any(key in self.binder.merged.get(scope, ()) for key in keys):
                return 0, doubt
            doubt = doubt or scope in self.binder.starred
            if is_class and self._inheritance:
                members = self._inheritance.of(scope)
                for key in keys:
                    if members and key in members:
                        return 0 if static else members[key], doubt
                doubt = doubt or members is None
                static = static or self._is_static(scope)
            if is_closed and self.kinds[scope] in _WALLS and scope not in self.binder.outline.arrows:
                break
            if self.kinds[scope] in self._islands and scope not in self.binder.outline.arrows:
                if self.kinds[scope] != ScopeKind.FUNCTION:
                    break
                island = True
        return -1, doubt

    def _has_bases(self, scope: int) -> bool:
        """Whether the innermost class around has bases, or may have got them where it was opened before."""
        while scope > 0 and self.kinds[scope] != ScopeKind.CLASS:
            scope = self.parents[scope]
        at = self.binder.body_of.get(scope, -1)
        draft = self.binder.outline.drafts[at] if at >= 0 else None
        return draft is not None and (draft.more or bool(draft.bases))

    def _is_open(self, found: int) -> bool:
        """Whether it is a function that other files may add to."""
        bind = self.binder.binds[found - 1]
        if bind.reason != Reason.DEF_IN_SCOPE or self.kinds[bind.scope] == ScopeKind.CLASS:
            return False
        return self.binder.outline.drafts[bind.target].kind == "function"

    def _is_local(self, found: int, scope: int) -> bool:
        """Whether it is a local of a function or block, which functions inside do not see."""
        if self.kinds[scope] not in (ScopeKind.FUNCTION, ScopeKind.BLOCK):
            return False
        return self.binder.binds[found - 1].reason in _LOCALS

    def _is_static(self, scope: int) -> bool:
        """Whether no instance of the classes around is known inside of a class."""
        at = self.binder.body_of.get(scope, -1) if self.binder.spec.scopes.static_nested_classes else -1
        return at >= 0 and bool(self.binder.outline.drafts[at].flags & FLAG_STATIC)

    def _is_of_instance(self, found: int) -> bool:
        bind = self.binder.binds[found - 1]
        if self.kinds[bind.scope] is not _CLASS:
            return False
        if bind.reason == Reason.DEF_IN_SCOPE and self.binder.outline.drafts[bind.target].kind in _TYPES:
            return False
        at = bisect_right(self._shared, (bind.start, _END)) - 1
        return at < 0 or self._shared[at][1] <= bind.start

    def _may_be_inherited(self, scope: int, keys: list[bytes], found: int) -> bool:
        """Whether a definition in a class shares its name with others of a base class."""
        if not found or not self._inheritance:
            return False
        if not self._inheritance.overloads(self.binder.binds[found - 1]):
            return False
        members = self._inheritance.of(scope)
        return members is None or any(key in members for key in keys)

    def _type_at(self, name: bytes, position: int, scope: int) -> int:
        place = (scope, WHOLE) if scope >= 0 else self.binder.outline.place(position)
        return self.find(name, position, place, int(Role.TYPE))

    def doubtful(self, found: int) -> int:
        """A bind like this one that is not certain: what is meant unless a base class says otherwise."""
        bind = self.binder.binds[found - 1]
        if not bind.certain:
            return found
        if found not in self._twins:
            twin = BindDraft(bind.scope, bind.name, bind.reason, bind.target, bind.start)
            twin.annotations, twin.made, twin.count = bind.annotations, bind.made, bind.count
            twin.certain = False
            self.binder.binds.append(twin)
            self.effective.append(0)
            self._twins[found] = len(self.binder.binds)
        return self._twins[found]

    def member(self, members: dict[bytes, int], scope: int, name: bytes, role: int) -> int:
        """The draft of the member of the class with this scope, its own or inherited, or -1."""
        base_members = self._inheritance.of(scope) if self._inheritance else {}
        for group in self.looks(role):
            for key in [space_key(name, space) for space in group]:
                if key in members:
                    own = self.binder.tables[scope].get(key, 0)
                    doubt = own and self._may_be_inherited(scope, [key], own)
                    return -1 if doubt else members[key]
                if base_members is None:
                    return -1
                if target := base_members.get(key, 0):
                    bind = self.binder.binds[target - 1]
                    return bind.target if bind.reason == Reason.DEF_IN_SCOPE and bind.certain else -1
        return -1


class Resolution:
    """What each identifier of a file is: the columns of its occurrences."""

    def __init__(self, members: Members, lookup: Lookup, data: bytes) -> None:
        self.members, self.lookup, self.data = members, lookup, data
        self.receivers: dict[bytes, int] = {}
        self._texts: dict[bytes, int] = {}  # receiver → its number
        self._numbers: dict[bytes, int] = {}  # all but the last byte before a member → number of the receiver
        spec = lookup.binder.spec
        self._modules = {
            name.encode() for name in spec.scopes.module_keywords if name in spec.scopes.self_keywords
        }
        self._own: dict[bytes, bytes] = {}  # the same, where the receiver may be `self` → `self`

    def run(
        self,
        identifiers: tuple[list[int], list[int]],
        marks: Mapping[int, int],
        specials: list[Special],
        line_starts: list[int],
    ) -> Occurrences:
        """`marks`: end of an identifier → start of its receiver, or -1 - the index of its special."""
        starts, ends = identifiers
        names = [self.data[start:end] for start, end in zip(starts, ends, strict=True)]
        if blank := self.lookup.binder.spec.scopes.blank_name.encode():
            selectors = [name != blank for name in names]
            names = list(compress(names, selectors))
            starts, ends = list(compress(starts, selectors)), list(compress(ends, selectors))
        numbers: defaultdict[bytes, int] = defaultdict(count().__next__)
        occurrences = Occurrences(
            names=list(map(numbers.__getitem__, names)), starts=starts, lines=line_starts
        )
        roles = self._call_roles(ends)
        scopes, targets = self._plain_targets(names, starts)
        receivers = [0] * len(names)
        self._apply_marks(names, (starts, ends), marks, specials, (roles, scopes, targets, receivers))
        occurrences.texts = [name.decode("utf-8", "surrogateescape") for name in numbers]
        occurrences.roles, occurrences.scopes, occurrences.targets, occurrences.receivers = (
            roles,
            scopes,
            targets,
            receivers,
        )
        return occurrences

    def _call_roles(self, ends: list[int]) -> bytearray:
        """The role of each identifier as the parenthesis after it tells it."""
        if not self.lookup.binder.spec.call_by_parenthesis:
            return bytearray(len(ends))
        data = self.data.replace(b" (", b"((") + b"\n"
        return bytearray(map(data.__getitem__, ends)).translate(_CALLS)

    def _plain_targets(self, names: list[bytes], starts: list[int]) -> tuple[list[int], list[int]]:
        """Scope and target of every identifier, as if none had a mark."""
        lookup, outline = self.lookup, self.lookup.binder.outline
        scopes: list[int] = []
        targets: list[int] = []
        at, size = 0, len(starts)
        for limit, place in zip([*outline.bounds[1:], _END], outline.places, strict=True):
            if at == size:
                break
            if starts[at] >= limit:
                continue
            until = bisect_left(starts, limit, at)
            scope, type_scope = place
            scopes += [scope] * (until - at)
            if lookup.is_plain(type_scope):
                targets += lookup.targets(scope, names[at:until])
                if lookup.declared or outline.kinds[scope] in lookup.ordered:
                    self._find_early(names, starts, targets, (at, until, place))
            else:
                targets += [_LATER] * (until - at)
            at = until
        return scopes, targets

    def _find_early(
        self,
        names: list[bytes],
        starts: list[int],
        targets: list[int],
        part: tuple[int, int, tuple[int, int]],
    ) -> None:
        """Names that do not count yet where they stand."""
        at, until, place = part
        effective, find = self.lookup.effective, self.lookup.find
        early = map(lt, starts[at:until], map(effective.__getitem__, targets[at:until]))
        for here in compress(range(at, until), early):
            targets[here] = find(names[here], starts[here], place, Role.READ)

    def _apply_marks(
        self,
        names: list[bytes],
        identifiers: tuple[list[int], list[int]],
        marks: Mapping[int, int],
        specials: list[Special],
        columns: tuple[bytearray, list[int], list[int], list[int]],
    ) -> None:
        # This loop sees half of the identifiers of the repository: locals only, one dictionary per question.
        roles, scopes, targets, receivers = columns
        starts, ends = identifiers
        numbers, own, member, members = self._numbers, self._own, self.member, self.members.targets
        data, lookup, place = self.data, self.lookup, self.lookup.binder.outline.place
        has_spaces = lookup.has_spaces
        apart = [b"#" + space.encode() for space in lookup.binder.spec.scopes.marked_spaces]
        special = [KEYWORD_RECEIVER, RAW_RECEIVER, *apart]
        for at, mark in enumerate(map(marks.get, ends)):
            if mark is None:
                if targets[at] == _LATER:
                    target = lookup.find(names[at], starts[at], place(starts[at]), roles[at])
                    targets[at] = max(target, 0)
                    if target == IMPLIED:
                        receivers[at] = self.receiver(IMPLIED_RECEIVER)
                continue
            start = starts[at]
            if mark >= 0:
                raw = data[mark : start - 1] if start - mark < _LOOK else b""
                receiver = numbers.get(raw)
                if receiver is None or (has_spaces and raw in own):
                    receivers[at], targets[at] = member(mark, start, names[at], (scopes[at], roles[at]))
                else:
                    receivers[at] = receiver
                    targets[at] = members(scopes[at], own[raw]).get(names[at], 0) if raw in own else 0
                continue
            role, target, before, body = specials[-1 - mark]
            if before == -1:
                if target == UNRESOLVED:
                    target = lookup.find(names[at], start, place(start), role)
                    if target == IMPLIED:
                        target, receivers[at] = 0, self.receiver(IMPLIED_RECEIVER)
                if body >= 0:
                    scopes[at] = body
            elif before >= 0:
                receivers[at], target = member(before, start, names[at], (scopes[at], role))
            else:
                receivers[at] = self.receiver(special[-2 - before])
            roles[at], targets[at] = role & (NEW - 1), target

    def member(self, receiver_start: int, start: int, name: bytes, seen: tuple[int, int]) -> tuple[int, int]:
        """The receiver's number and 1 + the definition of the member, or 0. `seen`: scope and role."""
        scope, role = seen
        if start - receiver_start >= _LOOK:
            return self.receiver(b"()"), 0
        text = self.data[receiver_start : start - 1]
        raw = self._own.get(text)
        if raw is None:
            raw = self.data[receiver_start:start].removesuffix(b"::$").rstrip(_SEPARATORS)
            if self.data[start - 1] == _QUALIFIER:
                raw += b"\\"
            if raw in self._modules and text.endswith(b":"):
                raw += b"::"  # `self::x` is not `self.x`
            raw = raw or b"."
            self._numbers[text] = self.receiver(raw)
            if raw not in self.members.receivers:
                return self._numbers[text], 0
            self._own[text] = raw
        if self.lookup.has_spaces:
            return self._numbers[text], self._spaced_member(scope, raw, name, role)
        return self._numbers[text], self.members.find(scope, raw, name) + 1

    def _spaced_member(self, scope: int, receiver: bytes, name: bytes, role: int) -> int:
        members = self.members
        owner = members.owner(scope, receiver)
        if owner < 0:
            return 0
        body = self.lookup.binder.outline.drafts[owner].body
        at = self.lookup.member(members.by_class.get(owner, {}), body, name, role)
        return members.numbers[at] + 1 if at >= 0 else 0

    def receiver(self, raw: bytes) -> int:
        number = self._texts.get(raw)
        if number is None:
            number = self._texts[raw] = self.receivers.setdefault(shape(raw), len(self.receivers) + 1)
        return number


def positions(nodes: list[Node]) -> tuple[list[int], list[int]]:
    """Starts and ends of nodes that do not overlap, in order; the two lists match."""
    starts, ends = [node.start_byte for node in nodes], [node.end_byte for node in nodes]
    starts.sort()
    ends.sort()
    return starts, ends


def member_marks(nodes: list[Node]) -> dict[int, int]:
    """End of a member access, which is the end of the member → start of the receiver. Of several with one end
    the outer one counts."""
    spans = sorted([(node.start_byte, node.end_byte) for node in nodes], reverse=True)
    return {end: start for start, end in spans}
