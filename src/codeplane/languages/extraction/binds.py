"""Which names each scope binds, to what, and how sure that is."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping

from tree_sitter import Node

from codeplane.languages.extraction.declared_types import tell_types
from codeplane.languages.extraction.imports import Imported
from codeplane.languages.extraction.outline import TOO_DEEP, Draft, Outline
from codeplane.languages.facts import Reason, Role, ScopeKind
from codeplane.languages.query import in_order
from codeplane.languages.spec import LanguageSpec

_CLASS_KINDS = frozenset(("method", "field", "property", "constructor", "enum_member"))
_UNBOUND_KINDS = frozenset(
    "impl heading key table selector resource block rpc query stage view index".split()
)
_MERGED = ("namespace", "enum")  # several of one name are one
_ALIKE = (("interface", "class"), ("class", "interface"))  # add to each other where they can
_END = 1 << 62
_HEADER = 2000  # bytes of a parameter list that are compared
_NESTED = 100  # declarations inside each other that are looked through
_OUTER_KINDS = (ScopeKind.FILE, ScopeKind.CLASS, ScopeKind.NAMESPACE)
# Reading a member off an enumeration costs more than the test that it is for.
_CLASS, _BOUND = ScopeKind.CLASS, Reason.DEF_IN_SCOPE
_ASSIGNED, _PARAMETER = Reason.LOCAL_ASSIGN, Reason.PARAM
_VALUE = ("v",)  # the group of everything that is one variable, however often it is given a value

(
    _DEFINITION, _IMPORT, _GLOBAL, _NONLOCAL, _PARAM, _TYPE_PARAM, _OWN, _VARIABLE, _LOCAL, _TYPE_LOCAL,
    _HOISTED, _MEMBER,
) = range(12)  # fmt: skip
_CODES = {
    "bind.param": _PARAM,
    "bind.type_param": _TYPE_PARAM,
    "bind.own": _OWN,
    "bind.variable": _VARIABLE,
    "bind.local": _LOCAL,
    "bind.type_local": _TYPE_LOCAL,
    "bind.hoisted": _HOISTED,
    "bind.global": _GLOBAL,
    "bind.nonlocal": _NONLOCAL,
    "bind.member": _MEMBER,
}

_BOUND_AS = {_PARAM: "param", _OWN: "class"}  # how specs call what such names are bound as

_PATTERNS = {
    "pattern.param": _PARAM,
    "pattern.variable": _VARIABLE,
    "pattern.local": _LOCAL,
    "pattern.hoisted": _HOISTED,
    "pattern.write": -1,
}

UNRESOLVED = -1
"""The target of a special occurrence that is looked up like any other."""

Special = tuple[int, int, int, int]
"""Role; target or UNRESOLVED; start of the receiver, -1, -2 for a keyword argument, -3 in text that is not
read, -4 and below in the spaces that are apart; scope, or -1 for that of the place."""

# Plain integers: these go into every occurrence.
_READ, _WRITE, _IMPORTED, _DEFINED = int(Role.READ), int(Role.WRITE), int(Role.IMPORT), int(Role.DEFINE)


def space_key(name: bytes, space: str) -> bytes:
    """A name in a name space, as it stands in the tables of scopes."""
    return name if space == "v" else name + b" " + space.encode()


class BindDraft:
    """A bind while its bindings are being collected."""

    __slots__ = (
        "annotations", "certain", "count", "effective", "group", "key", "last", "made", "name", "reason",
        "scope", "start", "target",
    )  # fmt: skip

    def __init__(self, scope: int, name: bytes, reason: Reason, target: int, start: int) -> None:
        self.scope, self.name, self.reason, self.target = scope, name, reason, target
        self.key = name
        self.start = self.last = start
        self.effective = start
        self.group: tuple[object, ...] = _VALUE
        self.certain = True
        self.count = 1
        self.annotations: tuple[bytes, ...] = ()
        self.made: tuple[bytes, ...] = ()


class Binder:
    """Collects the binds of one file, binding by binding, in order of position."""

    def __init__(self, outline: Outline, spec: LanguageSpec, data: bytes) -> None:
        self.outline, self.spec, self.data = outline, spec, data
        self.binds: list[BindDraft] = []
        self.tables: list[dict[bytes, int]] = [{} for _ in outline.parents]
        self.type_params: dict[int, dict[bytes, int]] = {}  # like `tables`, for type parameters alone
        self.starred: set[int] = set()  # scopes whose star imports may hide what is bound around them
        self.history: dict[tuple[int, bytes], list[tuple[int, int]]] = {}
        self.first_params: dict[int, bytes] = {}
        self.redirects: dict[tuple[int, bytes], bool] = {}  # True: to the file, False: to an outer function
        self.specials: list[Special] = []
        self.marks: dict[int, int] = {}  # end of an identifier → -1 - the index of its special
        self.members: list[tuple[int, int]] = []  # the member in `self.x = …`
        self.member_types: dict[int, bytes] = {}  # start of such a member or a field → its annotation
        # Start of such a member or a field → what is given to it: a called name or a name, and which.
        self.member_values: dict[int, tuple[str, bytes]] = {}
        self.made_in_class: list[BindDraft] = []
        self.fields: dict[int, int] = {}  # start of parameters that are fields too → of the field's name
        self.merged: dict[int, dict[bytes, int]] = {}  # scope of one part of a namespace → names of all parts
        self.names: list[int] = []  # start of every bound name
        self.named: list[BindDraft | None] = []  # what it bound
        self.declarations: list[tuple[int, int]] = []
        self._around: list[int] = []
        self.body_of = {draft.body: at for at, draft in enumerate(outline.drafts) if draft.body >= 0}
        self._sequential = tuple(spec.scopes.sequential_scopes)  # members of an enumeration are slow to hash
        self.closed = (
            re.compile(spec.scopes.closed_names.encode()).fullmatch if spec.scopes.closed_names else None
        )
        self._blank = spec.scopes.blank_name.encode()
        self._declared = tuple(spec.scopes.declared_scopes)
        self._hidden = _CLASS_KINDS - spec.scopes.unscoped_kinds
        self._parts: dict[int, list[int]] = {}  # target → the namespaces that are parts of it
        self._hoisted: set[int] = set()  # start of names that may be those of a function around
        self._rebound: list[tuple[int, bytes, int]] = []
        self._overloads: dict[tuple[int, bytes], set[bytes]] = {}  # scope, key → headers in the group
        self.open: set[int] = set()  # scopes with a receiver that nobody says
        self.apart: dict[int, str] = {}  # start of a name in a name space of its own → the space

    def collect(self, captures: Mapping[str, list[Node]], imports: list[Imported]) -> None:
        for space in self.spec.scopes.marked_spaces:
            starts = [node.start_byte for node in captures.get(f"space.{space}", ())]
            self.apart.update(dict.fromkeys(starts, space))
        events = [
            (node.start_byte, node.end_byte, code, -1)
            for capture, code in _CODES.items()
            for node in captures.get(capture, ())
        ]
        events += [
            (*draft.name, _DEFINITION, at)
            for at, draft in enumerate(self.outline.drafts)
            if draft.name[0] >= 0 and draft.name != draft.owner and not draft.parameter
        ]
        self._hoisted = {node.start_byte for node in captures.get("bind.hoisted", ())}
        events += self._pattern_events(captures)
        events += [(*item.local_span, _IMPORT, at) for at, item in enumerate(imports) if item.local_span]
        events.sort()
        self.declarations = sorted(
            [(n.start_byte, n.end_byte) for n in captures.get("declaration", ())]
            + [
                (events[bisect_left(events, (n.start_byte,)) - 1][0], n.end_byte)
                for n in captures.get("declared", ())
                if events and events[0][0] < n.start_byte
            ],
            key=lambda span: (span[0], -span[1]),
        )
        self._around = self._declarations_around()
        self._bind_events(events, imports)
        self._bind_implicit_parameters(captures)
        self.open = {self.outline.place(node.start_byte)[0] for node in captures.get("open", ())}
        self._merge_namespaces()
        self._redirect_outward()
        if self.spec.scopes.star_imports_rebind:
            self._doubt_before_stars(imports)
        if self.spec.scopes.opaque_scopes or self.spec.scopes.star_imports_hide:
            self.starred = {self.outline.place(item.start)[0] for item in imports if item.name == b"*"}
        tell_types(self, captures, imports)
        for node in captures.get("doubt", ()):
            at = bisect_right(self.names, node.start_byte) - 1
            bind = self.named[at] if at >= 0 and self.names[at] == node.start_byte else None
            if bind:
                bind.certain = False
        self._doubt_rebound(captures)

    def _bind_implicit_parameters(self, captures: Mapping[str, list[Node]]) -> None:
        """Parameters that a scope has without saying so; one that is written down goes before them."""
        for capture in [capture for capture in captures if capture.startswith("implicit.")]:
            name = capture.partition(".")[2].encode()
            for node in in_order(captures[capture]):
                scope = self.outline.place(node.start_byte)[0]
                if name not in self.tables[scope]:
                    bind = self._add_bind(
                        scope, name, (_PARAMETER, -1, node.start_byte), _VALUE, node.start_byte
                    )
                    bind.certain = False

    def keys(self, name: bytes, what: str) -> list[bytes]:
        """The name as it stands in the tables of scopes, once for each name space that `what` is bound in."""
        spaces = self.spec.scopes.name_spaces.get(what, "v")
        if spaces == "v":
            return [name]
        return [space_key(name, space) for space in spaces if space != "-"]

    def _bind_events(self, events: list[tuple[int, int, int, int]], imports: list[Imported]) -> None:
        outline = self.outline
        places = zip([*outline.bounds[1:], _END], outline.places, strict=True)
        limit, (scope, type_scope) = next(places)
        last = -1
        for start, end, code, at in events:
            # A name that two patterns found is bound once; the lower code says more. A missing one is empty.
            if start <= last or start == end:
                continue
            while start >= limit:
                limit, (scope, type_scope) = next(places)
            if code == _GLOBAL and self._declared and outline.kinds[scope] in _OUTER_KINDS:
                continue  # the pattern of a variable found it too
            last = start
            draft: BindDraft | None = None
            if self._blank and self.data[start:end] == self._blank:
                continue
            if code == _MEMBER:
                self.members.append((start, end))
            elif code == _DEFINITION:
                draft = self._bind_definition(start, end, at)
            elif type_scope == TOO_DEEP:
                continue
            elif code == _IMPORT:
                draft = self._bind_import(scope, start, end, (at, imports[at]))
            elif code in (_GLOBAL, _NONLOCAL):
                self.redirects[scope, self.data[start:end]] = code == _GLOBAL
                self._mark_identifier(end, _READ, UNRESOLVED, -1)
            else:
                # A type parameter that is named in a part looked up outside belongs to the scope itself.
                owner = type_scope if code == _TYPE_PARAM and type_scope >= 0 else scope
                draft = self._bind_value(owner, start, end, code)
            self.names.append(start)
            self.named.append(draft)

    def _mark_identifier(self, end: int, role: int, target: int, scope: int) -> None:
        self.specials.append((role, target, -1, scope))
        self.marks[end] = -len(self.specials)

    def _bind_definition(self, start: int, end: int, at: int) -> BindDraft | None:
        draft = self.outline.drafts[at]
        name = self.data[start:end]
        scope = draft.scope
        in_class = self.outline.kinds[scope] is _CLASS
        is_hidden = self.spec.scopes.members_visible == "never" if in_class else draft.kind in self._hidden
        if draft.forward and draft.kind == "function" and self.outline.kinds[scope] not in _OUTER_KINDS:
            # A prototype in a block declares the function of the file.
            draft.name = (-1, -1)
            self.redirects[scope, name] = True
            self._mark_identifier(end, _READ, UNRESOLVED, -1)
            return None
        self._mark_identifier(end, _DEFINED, 0, scope)
        space = self.apart.get(start, "")
        keys = [space_key(name, space)] if space else self.keys(name, draft.kind)
        overloads = draft.kind in self.spec.scopes.overloaded_kinds and self._is_overload(draft, end, keys)
        unbound = is_hidden or draft.kind in _UNBOUND_KINDS or draft.owner[0] >= 0
        if unbound or not keys or not self.spec.scopes.resolves:
            draft.more = draft.more or overloads
            return None
        if (scope, name) in self.redirects:
            self._rebound.append((scope, name, start))
            self._mark_identifier(end, _DEFINED, UNRESOLVED, scope)
            return None
        table = self.tables[scope]
        groups = [number for key in keys if (number := table.get(key, 0))]
        earlier = next(
            (one for one in groups if self._is_same_group(draft, self.binds[one - 1], overloads)), 0
        )
        if earlier:
            bind = self.binds[earlier - 1]
            bind.last = start
            draft.more = True
            first = self.outline.drafts[bind.target]
            if first.forward and not draft.forward:
                # What has a body is the definition, and what declared it before adds to it.
                bind.target, first.more, draft.more = at, True, False
            table.update(dict.fromkeys([key for key in keys if key not in table], earlier))
        else:
            key = keys[0]
            effective = start if self.spec.scopes.redeclares else draft.end
            if self.outline.kinds[scope] in self._declared:
                effective = 0 if space and scope == 0 else end  # a tag is known from its first mention on
            bind = self._add_bind(scope, name, (_BOUND, at, start), ("d", at), effective, key)
            earlier = table[key]
            if self.spec.scopes.sequential_definitions and self.outline.kinds[scope] in self._sequential:
                self.history.setdefault((scope, key), []).append((draft.start, earlier))
            self._bind_in_other_spaces(bind, keys)
        bind.certain = bind.certain and not draft.doubtful
        if draft.kind in _MERGED:
            self._parts.setdefault(earlier, []).append(at)
        if start in self._hoisted and (around := self._function_around(scope)) != scope:
            # Outside its block the name is that of the function, or not, by the mode that the code runs in.
            self.tables[around].setdefault(name, 0)
        self._mark_identifier(end, _DEFINED, earlier, scope)
        return bind

    def _bind_in_other_spaces(self, bind: BindDraft, keys: list[bytes]) -> None:
        """Binds the name in its other name spaces too."""
        table = self.tables[bind.scope]
        for key in keys[1:]:
            target = table.setdefault(key, table[keys[0]])
            if self.binds[target - 1] is not bind:
                self.binds[target - 1].certain = bind.certain = False

    def _is_overload(self, draft: Draft, name_end: int, keys: list[bytes]) -> bool:
        """Whether the definition differs in its parameters from those of its name and kind before it."""
        end = draft.body_start if draft.body_start >= 0 else draft.end
        header = b"".join(self.data[name_end : min(end, name_end + _HEADER)].split())
        at = (draft.scope, keys[0] if keys else self.data[slice(*draft.name)] + b" -")
        headers = self._overloads.setdefault(at, set())
        adds = bool(headers) and header not in headers
        headers.add(header)
        return adds

    def _is_same_group(self, draft: Draft, bind: BindDraft, overloads: bool) -> bool:
        """Whether a definition belongs to the group of definitions that the name is bound to."""
        if bind.reason is not _BOUND:
            return False
        first = self.outline.drafts[bind.target]
        grows = draft.more or draft.forward or first.more or first.opens_group or overloads
        alike = first.kind == draft.kind or (first.kind, draft.kind) in _ALIKE
        if not grows or not alike:
            return False
        # What opens no group itself is what the group was waiting for.
        draft.opens_group = first.opens_group = first.opens_group and (draft.more or draft.opens_group)
        return True

    def _merge_namespaces(self) -> None:
        """Parts of one namespace see each other's names: what those are is not looked up in this file."""
        for number, parts in self._parts.items():
            bind = self.binds[number - 1]
            self.tables[bind.scope].setdefault(bind.name, number)
            if len(parts) > 1:
                bodies = [self.outline.drafts[at].body for at in parts if self.outline.drafts[at].body >= 0]
                names = {name: 0 for body in bodies for name in self.tables[body]}
                self.merged.update(dict.fromkeys(bodies, names))

    def _pattern_events(self, captures: Mapping[str, list[Node]]) -> list[tuple[int, int, int, int]]:
        """What each name in a pattern is, by the innermost region around it."""
        regions = sorted(
            (node.start_byte, -node.end_byte, -code)
            for capture, code in _PATTERNS.items()
            for node in captures.get(capture, ())
        )
        events = []
        around: list[tuple[int, int]] = [(_END, -1)]
        at = 0
        for start, end in sorted((n.start_byte, n.end_byte) for n in captures.get("bind.pattern", ())):
            while at < len(regions) and regions[at][0] <= start:
                while around[-1][0] <= regions[at][0]:
                    around.pop()
                around.append((-regions[at][1], -regions[at][2]))
                at += 1
            while around[-1][0] <= start:
                around.pop()
            if around[-1][1] >= 0:
                events.append((start, end, around[-1][1], -1))
            else:
                self._mark_identifier(end, _WRITE, UNRESOLVED, -1)
        return events

    def _bind_import(self, scope: int, start: int, end: int, item: tuple[int, Imported]) -> BindDraft | None:
        name = self.data[start:end]
        if not self.spec.scopes.resolves:
            self._mark_identifier(end, _IMPORTED, 0, -1)
            return None
        if (scope, name) in self.redirects:
            self._rebound.append((scope, name, start))
            self._mark_identifier(end, _IMPORTED, UNRESOLVED, -1)
            return None
        at, entry = item
        keys = self.keys(name, entry.kind)
        bind = self._add_bind(
            scope, name, (Reason.IMPORT_ALIAS, at, start), ("i", *entry.group), start, keys[0]
        )
        bind.certain = bind.certain and entry.certain
        self._bind_in_other_spaces(bind, keys)
        self._mark_identifier(end, _IMPORTED, self.tables[scope][keys[0]], -1)
        return bind

    def _bind_value(self, scope: int, start: int, end: int, code: int) -> BindDraft | None:
        name = self.data[start:end]
        outer = self.outline.kinds[scope] in _OUTER_KINDS
        if code == _HOISTED:
            scope = self._hoisted_to(scope, name)
        if self.redirects and (scope, name) in self.redirects:
            self._rebound.append((scope, name, start))
            self._mark_identifier(end, _WRITE, UNRESOLVED, -1)
            return None
        table = self.tables[scope]
        if code in (_PARAM, _TYPE_PARAM, _OWN, _TYPE_LOCAL):
            scope = self._typed_in(scope) if code == _TYPE_LOCAL else scope
            return self._bind_parameter(scope, (start, end), code)
        # Where a declaration ends matters to a definition, and where names count from there on.
        declaration = self.declaration(start, end) if code != _LOCAL and (outer or self._sequential) else None
        effective = declaration[1] if declaration else end
        if self.outline.kinds[scope] in self._declared:
            effective = 0 if code == _HOISTED else end
        key = space_key(name, self.apart[start]) if start in self.apart else name
        bind = self._add_bind(scope, name, (_ASSIGNED, -1, start), _VALUE, effective, key)
        is_definition = outer and code != _LOCAL and bind.reason == _ASSIGNED
        if is_definition:
            self._promote_to_definition(bind, scope, (start, end), declaration)
        self._mark_identifier(end, _DEFINED if is_definition else _WRITE, table[key], -1)
        return bind

    def _bind_parameter(self, scope: int, span: tuple[int, int], code: int) -> BindDraft:
        name = self.data[span[0] : span[1]]
        keys = self.keys(name, _BOUND_AS.get(code, "type_param"))
        bind = self._add_bind(scope, name, (_PARAMETER, -1, span[0]), _VALUE, span[0], keys[0])
        number = self.tables[scope][keys[0]]
        self._mark_identifier(span[1], _DEFINED, number, -1)
        if code == _PARAM:
            self.first_params.setdefault(scope, name)
            return bind
        self._bind_in_other_spaces(bind, keys)
        if code != _TYPE_LOCAL:
            self.type_params.setdefault(scope, {}).update(dict.fromkeys(keys, number))
        return bind

    def _typed_in(self, scope: int) -> int:
        """The scope that a type names its parts for, whatever types are around the name in it."""
        around = scope
        while around > 0 and self.outline.kinds[around] != ScopeKind.COMPREHENSION:
            around = self.outline.parents[around]
        return around or scope

    def _function_around(self, scope: int) -> int:
        while self.outline.kinds[scope] in (ScopeKind.BLOCK, ScopeKind.COMPREHENSION):
            scope = self.outline.parents[scope]
        return scope

    def _closing_scope(self, scope: int) -> int:
        """The nearest function that is no arrow, or the file."""
        scope = self._function_around(scope)
        while scope in self.outline.arrows:
            scope = self._function_around(self.outline.parents[scope])
        return scope

    def _hoisted_to(self, scope: int, name: bytes) -> int:
        """The function, or the block that is its body; a parameter of the name stays what it is."""
        outline, body = self.outline, scope
        while outline.kinds[scope] in (ScopeKind.BLOCK, ScopeKind.COMPREHENSION):
            body, scope = scope, outline.parents[scope]
        is_body = outline.kinds[body] == ScopeKind.BLOCK and outline.spans[body][1] == outline.spans[scope][1]
        inside = self.spec.scopes.hoists_to_body and is_body and scope and name not in self.tables[scope]
        return body if inside else scope

    def _promote_to_definition(
        self, bind: BindDraft, scope: int, name: tuple[int, int], declared: tuple[int, int] | None
    ) -> None:
        """A variable of a file, class or namespace is a definition, once."""
        draft = Draft("variable", *(declared or name), scope, self.body_of.get(scope, -1))
        draft.name = name
        draft.flags = self.outline.modifiers.get(declared, 0) if declared else 0
        bind.reason, bind.target = _BOUND, len(self.outline.drafts)
        self.outline.drafts.append(draft)

    def _add_bind(
        self,
        scope: int,
        name: bytes,
        what: tuple[Reason, int, int],
        group: tuple[object, ...],
        effective: int,
        key: bytes = b"",
    ) -> BindDraft:
        reason, target, start = what
        table = self.tables[scope]
        key = key or name
        earlier = table.get(key)
        keeps = self.spec.scopes.redeclares
        counts_later = (group is _VALUE or keeps) and self.outline.kinds[scope] in self._sequential
        # Names of one declaration are one variable, however often the pattern says them: `A(x) | B(x)`.
        again = earlier and self.binds[earlier - 1].effective == effective
        if earlier and (keeps or again or not counts_later):
            bind = self.binds[earlier - 1]
            bind.count += 1
            bind.last = start
            if bind.group is not group and bind.group != group:
                bind.certain = False
            return bind
        bind = BindDraft(scope, name, reason, target, start)
        bind.key = key
        bind.group = group
        bind.effective = effective
        self.binds.append(bind)
        table[key] = len(self.binds)
        if counts_later:
            self.history.setdefault((scope, key), []).append((effective, len(self.binds)))
        return bind

    def declaration(self, start: int, end: int) -> tuple[int, int] | None:
        """The innermost declaration around a name."""
        at = bisect_right(self.declarations, (start, 1 << 62)) - 1
        for _ in range(_NESTED):
            if at < 0:
                break
            if self.declarations[at][1] >= end:
                return self.declarations[at]
            at = self._around[at]
        return None

    def _declarations_around(self) -> list[int]:
        """For each declaration the one around it, or -1."""
        around: list[int] = []
        open_: list[int] = []
        for at, (start, _) in enumerate(self.declarations):
            while open_ and self.declarations[open_[-1]][1] <= start:
                open_.pop()
            around.append(open_[-1] if open_ else -1)
            open_.append(at)
        return around

    def _redirect_outward(self) -> None:
        """`global` and `nonlocal`: the name means what an outer scope binds, or nothing known."""
        parents = self.outline.parents
        for scope, name, start in self._rebound:
            if self.redirects[scope, name] and name not in self.tables[0]:
                self._add_bind(0, name, (Reason.LOCAL_ASSIGN, -1, start), _VALUE, start)
        for (scope, name), to_file in self.redirects.items():
            outer = 0
            if not to_file:
                outer = parents[scope]
                while outer > 0 and not self._is_captured_by(outer, name):
                    outer = parents[outer]
            target = self.tables[outer].get(name, 0) if to_file or outer or self.closed else 0
            self.tables[scope][name] = target
        for scope, name, start in self._rebound:
            if target := self.tables[scope][name]:
                bind = self.binds[target - 1]
                bind.count += 1
                bind.last = max(bind.last, start)
                if bind.group != _VALUE:
                    bind.certain = False

    def _is_captured_by(self, scope: int, name: bytes) -> bool:
        """Whether `nonlocal` means a name of this scope. Closed names are those of the next function."""
        if self.outline.kinds[scope] != ScopeKind.FUNCTION:
            return False
        closes = self.closed is not None and scope not in self.outline.arrows
        return closes or name in self.tables[scope]

    def _doubt_before_stars(self, imports: list[Imported]) -> None:
        stars = [(self.outline.place(item.start)[0], item.start) for item in imports if item.name == b"*"]
        for scope, start in stars:
            for target in self.tables[scope].values():
                if target and self.binds[target - 1].last < start and self.binds[target - 1].scope == scope:
                    self.binds[target - 1].certain = False

    def _doubt_rebound(self, captures: Mapping[str, list[Node]]) -> None:
        """Doubts the names that something binds at run time, and all of a file in several packages."""
        scopes = {
            self._closing_scope(self.outline.place(n.start_byte)[0]) for n in captures.get("rebinds", ())
        }
        for bind in self.binds if scopes else ():
            if self._closing_scope(bind.scope) in scopes and (not self.closed or self.closed(bind.name)):
                bind.certain = False
        if len(captures.get("package", ())) > 1:
            for bind in self.binds:
                bind.certain = bind.certain and bind.scope != 0
