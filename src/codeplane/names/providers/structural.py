"""The meanings that scopes, imports and declared types prove: the structure of the code alone."""

import re
from typing import Final

from codeplane.core.kinds import split_head, split_path
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.index.view.files import FileFacts
from codeplane.languages.facts import MADE, Bind, Import, Occurrence, Reason, Role, ScopeKind
from codeplane.names.imports import ImportResolver
from codeplane.names.inference.receiver import Receivers
from codeplane.names.inference.values import Values
from codeplane.names.meaning import AMBIGUOUS, NO_VALUE, UNRESOLVED, Meaning, Target, Value, known

_PLAIN: Final = re.compile(r"[\w$@]+(?:(?:\.|::|->|\?\.|\\)#?[\w$@]+)*\Z")
_SUPER: Final = re.compile(r"super\(([\w.]+) ?, ?(\w+) ?,?\)\Z")
_KEYWORD: Final = "="
_DEFAULT: Final = "default"
# The entries of a spec's `looks` that end up in a role.
_ROLES: Final = {
    Role.READ: ("read",),
    Role.WRITE: ("write",),
    Role.CALL: ("call", "new"),
    Role.TYPE: ("type", "class", "namespace"),
}
_NO_TYPES: Final = frozenset(("method", "property"))


_UNKNOWN: Final = Meaning(Tier.UNKNOWN, UNRESOLVED)
_ANCHORED: Final = Meaning(Tier.ANCHORED, UNRESOLVED)


class StructuralProvider:
    """Binds occurrences by lexical facts first and by links then.

    A member behind a value of a declared class stands for those that override it as well; with `exact` it
    means nothing where a derived class has one of its own.
    """

    def __init__(self, linker: ImportResolver, *, exact: bool = False) -> None:
        self._linker = linker
        self._sources = linker.sources
        self._receivers = Receivers(linker)
        self._values = Values(
            linker, self._receivers, lambda *place: self.meaning(*place).target, exact=exact
        )
        self._members: dict[tuple[str, int, int, str, bool, int], Target] = {}

    def meaning(self, path: RepoPath, name: str, seen: Occurrence) -> Meaning:
        """What one occurrence of a name means."""
        facts = self._sources.own_facts(path)
        if facts is None:
            return _UNKNOWN
        if seen.role == Role.IMPORT and not seen.target:
            return self._mentioned(path, facts, name, seen)
        if seen.receiver:
            if name in self._linker.spec(facts).types.unreachable_members or self._receivers.is_narrowed(
                facts, seen
            ):
                return _ANCHORED
            if seen.target:
                is_other = self._is_asked(path, facts, name, seen)
                return _ANCHORED if is_other else self._own_member(Place(path, seen.target - 1))
            space = facts.receivers[seen.receiver - 1].removeprefix("#")
            if space in self._linker.spec(facts).scopes.marked_spaces:
                return _linked(self._linker.ambient(path, seen.scope, f"{space} {name}"))
            target = self._fitting(facts, name, seen, known(self._member(path, facts, name, seen)))
            is_meant = target and self._is_seen(path, name, target, seen)
            return Meaning(Tier.STRONG, target) if is_meant else _ANCHORED
        if seen.role == Role.IMPORT and (seen.line, seen.column) in facts.import_at:
            return self._mentioned(path, facts, name, seen)
        if seen.target:
            bind = facts.binds[seen.target - 1]
            if not bind.certain:
                return self._doubted(path, facts, seen, bind)
            if name in self._linker.spec(facts).types.builtins and self._is_before(facts, seen, bind):
                return _UNKNOWN
            meaning = self._bound(path, bind)
            if seen.role == Role.TYPE and (
                self._are_members(facts, meaning.target)
                or (
                    bind.reason != Reason.PARAM
                    and self._values.is_another_in_file(path, facts, name, meaning.target)
                )
            ):
                return _UNKNOWN
            if self._linker.is_mixed(meaning.target):
                return _linked(self._fitting(facts, name, seen, meaning.target))
            is_import = bind.reason == Reason.IMPORT_ALIAS
            is_other = is_import and self._is_in_another_space(facts, name, seen, meaning.target)
            return _UNKNOWN if is_other else meaning
        around = list(self._linker.outward(facts, seen.scope))
        if facts.bound(around[-1], name) is not None or seen.role == Role.DEFINE:
            return _UNKNOWN
        spec = self._linker.spec(facts)
        if spec.scopes.implicit_self and seen.role == Role.CALL:
            owner = self._only(self._receivers.class_around(path, facts, seen.scope))
            member = (
                self._values.owned(True, self._linker.classes.member(owner, name)) if owner else UNRESOLVED
            )
            return _linked(self._fitting(facts, name, seen, known(member)))
        target = self._linker.ambient(path, seen.scope, name)
        if not target and seen.role == Role.TYPE:
            target = self._linker.crate(path, seen.scope, name)
        target = self._fitting(facts, name, seen, known(target))
        is_clear = not spec.scopes.inherited_before_file or set(self._sources.definitions(name)) <= set(
            target
        )
        is_clear = is_clear and not (spec.scopes.open_functions and self._has_namesakes(target, name))
        return _linked(target if is_clear else UNRESOLVED)

    def _is_before(self, facts: FileFacts, seen: Occurrence, bind: Bind) -> bool:
        """Whether code of a file or of its classes runs before the file binds a name that it mentions."""
        if bind.scope > 0 or seen.role not in (Role.READ, Role.CALL, Role.TYPE):
            return False
        is_defined = bind.reason == Reason.DEF_IN_SCOPE
        span = facts.definitions[bind.target].span if is_defined else None
        since = (span.end_line, span.end_column) if span is not None else (bind.line, bind.column)
        scope = seen.scope
        while scope > 0 and facts.scopes.kind(scope) == ScopeKind.CLASS:
            scope = facts.scopes.parent(scope)
        return scope == 0 and (seen.line, seen.column) < since

    def _are_members(self, facts: FileFacts, target: Target) -> bool:
        """Whether it is a method or property that no type can be: `def part(self) -> part` may mean what is
        around the class."""
        kinds = {self._linker.definition_kind(place) for place in target}
        return bool(kinds) and kinds <= _NO_TYPES and not self._linker.spec(facts).scopes.name_spaces

    def _is_around(self, path: RepoPath, member: Target, seen: Occurrence) -> bool:
        """Whether the innermost class around an occurrence is the one that has the member."""
        facts = self._sources.facts(member[0].path)
        if facts is None or member[0].path != path or member[0].definition < 0:
            return False
        scope = seen.scope
        while scope > 0 and facts.scopes.kind(scope) != ScopeKind.CLASS:
            scope = facts.scopes.parent(scope)
        return facts.opened_by.get(scope) == facts.definitions[member[0].definition].parent

    def _only(self, owner: Target) -> Target:
        """The class, where nothing else in the repository has its name: another file may add to it."""
        facts = self._sources.facts(owner[0].path) if owner else None
        name = facts.definitions[owner[0].definition].name if facts else ""
        return owner if name and len(self._sources.definitions(name)) == 1 else UNRESOLVED

    def _fitting(self, facts: FileFacts, name: str, seen: Occurrence, target: Target) -> Target:
        """The target where a name in this role can mean it: a call is no call of a field."""
        spec = self._linker.spec(facts)
        if not spec.scopes.name_spaces or not target:
            return target
        looks = {
            space
            for role in _ROLES.get(seen.role, ())
            for space in "".join(spec.scopes.lookup_spaces.get(role, "v"))
        }
        if seen.role in _ROLES and self._linker.is_mixed(target):
            is_type = seen.role == Role.TYPE
            return (
                self._as_type(facts, name, target)
                if is_type
                else self._linker.of_space(target, "".join(looks))
            )
        kinds = [self._linker.definition_kind(place) for place in target]
        fits = all(not kind or looks & set(spec.scopes.name_spaces.get(kind, "v")) for kind in kinds)
        return target if fits or seen.role not in _ROLES else UNRESOLVED

    def _is_in_another_space(self, facts: FileFacts, name: str, seen: Occurrence, target: Target) -> bool:
        """Whether an import brings values alone where a type is asked for, or types alone where a value is:
        the name means something else there, that is seen without an import. A base class is a value too."""
        spec = self._linker.spec(facts)
        is_type = seen.role == Role.TYPE
        if not spec.scopes.name_spaces or seen.role not in _ROLES or (is_type and name in facts.extended):
            return False
        kinds = [self._linker.definition_kind(place) for place in target]
        spaces = {space for kind in kinds if kind for space in spec.scopes.name_spaces.get(kind, "v")}
        roles = ("type",) if is_type else _ROLES[seen.role]
        looks = {space for role in roles for space in "".join(spec.scopes.lookup_spaces.get(role, "v"))}
        return all(kinds) and spaces == {"v" if is_type else "t"} and not spaces & looks

    def _as_type(self, facts: FileFacts, name: str, target: Target) -> Target:
        """The type among several things of one name, unless it may stand for a base class or a namespace."""
        is_open = name in facts.extended or self._linker.of_space(target, "n")
        return UNRESOLVED if is_open else self._linker.of_space(target, "t")

    def _is_asked(self, path: RepoPath, facts: FileFacts, name: str, seen: Occurrence) -> bool:
        """Whether the receiver of an own member may be of a type with another: `this instanceof Other`."""
        narrowing, holder = self._values.narrowing, facts.definitions[seen.target - 1].parent
        checks = narrowing.asked(path, facts).get(facts.receivers[seen.receiver - 1])
        is_asked = checks is not None and holder >= 0
        return is_asked and narrowing.may_mean_another(path, checks or (), (Place(path, holder),), name)

    def _own_member(self, place: Place) -> Meaning:
        """A member that the class around defines. A base that declares it counts before a bare assignment."""
        declaration = self._linker.classes.declared(place)
        if declaration == self._linker.grouped(place):
            return Meaning(Tier.PROVEN, declaration)
        return Meaning(Tier.STRONG, declaration) if known(declaration) else _ANCHORED

    def _mentioned(self, path: RepoPath, facts: FileFacts, name: str, seen: Occurrence) -> Meaning:
        """A name in an import statement: what is taken, or a module on the way there."""
        if self._linker.spec(facts).scopes.module_keywords:
            return self._on_the_way(path, facts, name)
        at = facts.import_at.get((seen.line, seen.column))
        item = facts.imports[at] if at is not None else None
        is_whole = item is not None and not item.name and item.alias == name != _first(item.module)
        is_whole = is_whole or (item is not None and item.name == _DEFAULT and item.alias == name)
        if at is not None and item is not None and (item.name == name or is_whole):
            return _linked(self._linker.imported(path, at))
        if (import_index := _shown_as(facts, name, seen)) is not None:
            return _linked(self._linker.imported(path, import_index))
        receiver = facts.receivers[seen.receiver - 1] if seen.receiver else ""
        if receiver.strip("."):
            return _linked(self._linker.module(path, f"{receiver}.{name}"))
        # The dots of a relative import are not told apart in the receiver: `from .http import a` and
        # `from ..http import b` in one file. The names that a module is imported for stand behind it.
        heads = {_head(item.module) for item in facts.imports if _first(item.module) == name}
        if len(heads) > 1:
            behind = [place for place in facts.import_at if place > (seen.line, seen.column)]
            next_import = facts.imports[facts.import_at[min(behind)]] if behind else None
            is_own = next_import is not None and _first(next_import.module) == name
            heads = {_head(next_import.module)} if next_import is not None and is_own else set()
        return _linked(self._linker.module(path, heads.pop())) if len(heads) == 1 else _UNKNOWN

    def _on_the_way(self, path: RepoPath, facts: FileFacts, name: str) -> Meaning:
        """A name of a path in an import: one thing, whichever of the paths in the file it is in."""
        targets: set[Target] = set()
        for item in facts.imports:
            words = [*item.module.split("::"), *([item.name] if item.name not in ("", "*") else [])]
            for at in [at for at, word in enumerate(words) if word == name]:
                text = "::".join(words[: at + 1])
                targets.add(self._linker.followed(path, item._replace(module=text)))
        return _linked(targets.pop()) if len(targets) == 1 else _UNKNOWN

    def _doubted(self, path: RepoPath, facts: FileFacts, seen: Occurrence, bind: Bind) -> Meaning:
        """A name that a base class around it may hide: what is bound, where all bases are known not to."""
        at = facts.bound(bind.scope, bind.name)
        sure = facts.binds[at] if at is not None and at >= 0 else None
        if sure is None or sure != bind._replace(certain=True):
            return _UNKNOWN
        if self._linker.around.may_hide(path, (seen.scope, bind.scope), bind.name):
            return _UNKNOWN
        if self._has_overloads(path, facts, sure):
            return _UNKNOWN
        meaning = self._bound(path, sure)
        return meaning._replace(tier=Tier.STRONG) if meaning.target else meaning

    def _has_overloads(self, path: RepoPath, facts: FileFacts, bind: Bind) -> bool:
        """Whether what the file includes has something of the name too, or a namespace anywhere."""
        if not self._linker.spec(facts).scopes.open_functions:
            return False
        if bind.reason == Reason.DEF_IN_SCOPE and self._has_namesakes((Place(path, bind.target),), bind.name):
            return True
        return self._linker.starred(path, facts.stars, bind.name) != UNRESOLVED

    def _has_namesakes(self, target: Target, name: str) -> bool:
        """Whether a function has namesakes in other namespaces, which types of arguments may bring, or may
        have some beside it that could not be read."""
        if any(self._linker.definition_kind(place) != "function" for place in target):
            return False
        files = [self._sources.facts(place.path) for place in target]
        if any(facts is None or facts.state != "ok" for facts in files):
            return True
        return len(self._linker.homes(name)) > 1 if target else False

    def _bound(self, path: RepoPath, bind: Bind) -> Meaning:
        if bind.reason == Reason.IMPORT_ALIAS:
            return _linked(self._linker.imported(path, bind.target))
        is_definition = bind.reason == Reason.DEF_IN_SCOPE
        target = self._linker.grouped(Place(path, bind.target)) if is_definition else UNRESOLVED
        return Meaning(Tier.PROVEN, target)

    def _member(self, path: RepoPath, facts: FileFacts, name: str, seen: Occurrence) -> Target:
        receiver = facts.receivers[seen.receiver - 1]
        spec = self._linker.spec(facts)
        said = _SUPER.match(receiver) if spec.scopes.super_receivers else None
        if receiver in spec.scopes.super_receivers or said:
            owner = self._receivers.class_around(path, facts, seen.scope)
            # `super(Other, self)` begins behind another class.
            if said and (
                said[2] not in spec.scopes.self_parameters or self._named(path, seen.scope, said[1]) != owner
            ):
                return UNRESOLVED
            member = self._linker.classes.member(owner, name, of_bases=True)
            return self._values.owned(not self._receivers.is_in_static(facts, seen.scope), member)
        if spec.scopes.namespace_separator and receiver.endswith(spec.scopes.namespace_separator):
            return self._linker.written(path, seen.scope, receiver + name)
        if spec.scopes.namespace_separator and spec.scopes.namespace_separator in receiver:
            return self._values.inside(
                path, Value(known(self._linker.written(path, seen.scope, receiver))), name
            )
        if receiver in spec.scopes.parent_receivers:
            owner = self._linker.classes.parent(self._receivers.class_around(path, facts, seen.scope))
            return self._linker.classes.member(owner, name) if owner else UNRESOLVED
        if MADE in receiver:
            value = self._values.results.expression(path, seen.scope, receiver)
            checks = self._values.narrowing.asked(path, facts).get(receiver)
            is_other = self._values.is_narrowed(path, value, name, checks)
            member = self._values.inside(path, value, name, seen.role == Role.CALL, is_last=True)
            return AMBIGUOUS if is_other else member
        begin = receiver.removesuffix("::")
        if receiver == _KEYWORD or not _PLAIN.match(begin):
            return UNRESOLVED
        first, *rest = split_path(receiver)
        is_path = (
            begin != receiver or receiver.startswith(f"{first}::") or first not in spec.scopes.self_keywords
        )
        if first in spec.scopes.module_keywords and is_path:
            head, rest = split_head("::".join([first, *rest]), spec.scopes.module_keywords)
            value = Value(self._linker.begun(path, Import(seen.scope, "", head, "", "", 0, 0)) or UNRESOLVED)
        elif first in spec.scopes.self_keywords or first in spec.scopes.class_keywords:
            is_type = spec.scopes.methods_apart and first in spec.scopes.class_keywords
            owner = self._receivers.class_around(path, facts, seen.scope)
            is_type = is_type or (
                spec.scopes.static_members_apart and self._receivers.is_in_static(facts, seen.scope)
            )
            value = Value(
                self._only(owner) if spec.scopes.inherited_before_file else owner, is_instance=not is_type
            )
        else:
            return self._behind(path, facts, name, seen)
        return self._reached(path, value, (*rest, name), seen)

    def _named(self, path: RepoPath, scope: int, text: str) -> Target:
        return known(self._linker.written(path, scope, text))

    def _behind(self, path: RepoPath, facts: FileFacts, name: str, seen: Occurrence) -> Target:
        """A member behind names of which a scope binds the first."""
        names = split_path(facts.receivers[seen.receiver - 1])
        first, *rest = names
        is_called = seen.role == Role.CALL
        other = self._begins(facts, names, seen)
        if other is None:
            return UNRESOLVED
        if not other.target or not facts.binds[other.target - 1].certain:
            value = self._values.typed(self.meaning(path, first, other).target)
            return self._reached(path, value, (*rest, name), seen)
        # Wherever the bind is meant, the same names behind it mean the same, but for those of one class.
        is_apart = any(map(self._linker.spec(facts).types.is_mangled, rest))
        key = (path, seen.receiver, other.target, name, is_called, seen.scope if is_apart else -1)
        target = self._members.get(key)
        if target is None:
            value = self._values.of_bind(path, facts, other.target - 1)
            target = self._members[key] = self._reached(path, value, (*rest, name), seen)
        return target

    def _reached(self, path: RepoPath, value: Value, names: tuple[str, ...], seen: Occurrence) -> Target:
        """What names behind a value lead to, each a member of the one before."""
        *way, last = names
        checks = self._values.narrowing.of_receiver(path, seen.receiver)
        for at, name in enumerate(way):
            member = self._values.inside(path, value, name)
            is_meant = self._is_seen(path, name, member, seen)
            is_meant = is_meant and not self._values.is_narrowed(path, value, name, checks.get(at))
            value = self._values.held(member) if is_meant else NO_VALUE
        if self._values.is_narrowed(path, value, last, checks.get(len(way))):
            return AMBIGUOUS
        return self._values.inside(path, value, last, seen.role == Role.CALL, is_last=True)

    def _is_seen(self, path: RepoPath, name: str, member: Target, seen: Occurrence) -> bool:
        """Whether a name can mean a member where it stands: some are written apart in every class."""
        facts = self._sources.facts(path)
        is_mangled = facts is not None and self._linker.spec(facts).types.is_mangled(name)
        return not is_mangled or not known(member) or self._is_around(path, member, seen)

    def _begins(self, facts: FileFacts, names: tuple[str, ...], seen: Occurrence) -> Occurrence | None:
        """The first one of the names that a receiver is made of, which stand right before the member."""
        before = self._sources.occurrences_of(facts).before(seen.line, seen.column, len(names))
        is_whole = tuple(name for name, _ in before) == names and not before[0][1].receiver
        return before[0][1] if is_whole else None


def _head(module: str) -> str:
    """The first name of a module, with the dots before it."""
    return module[: len(module) - len(module.lstrip("."))] + _first(module)


def _shown_as(facts: FileFacts, name: str, seen: Occurrence) -> int | None:
    """The import that shows something under another name, where an occurrence is that name."""
    before = [
        at for at, item in enumerate(facts.imports) if (item.line, item.column) < (seen.line, seen.column)
    ]
    item = facts.imports[before[-1]] if before else None
    is_name = item is not None and item.reexport and item.alias == name != item.name
    return before[-1] if is_name else None


def _first(module: str) -> str:
    return module.lstrip(".").split(".")[0]


def _linked(target: Target) -> Meaning:
    target = known(target)
    return Meaning(Tier.STRONG, target) if target else _UNKNOWN
