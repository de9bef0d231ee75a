"""What stands before a member: a thing itself, or an instance of a class, as far as that is written down."""

from collections.abc import Callable
from typing import Final

from codeplane.core.kinds import CLASSES, SPACES, split_path
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.slots import InterfaceSlot
from codeplane.index.view.foreign import ForeignFile
from codeplane.languages.facts import FLAG_STATIC, MADE, OTHER_TYPE, Occurrence, Reason, ScopeKind
from codeplane.languages.foreign import ForeignDefinition
from codeplane.names.classes import FIELD, METHOD, PATH
from codeplane.names.imports import ImportResolver
from codeplane.names.inference.calls import Results
from codeplane.names.inference.fields import Writes
from codeplane.names.inference.narrowing import Narrowing
from codeplane.names.inference.receiver import Receivers
from codeplane.names.meaning import AMBIGUOUS, NO_VALUE, UNRESOLVED, Target, Value, known

_VALUES: Final = frozenset("variable constant field property enum_member".split())
_MOST_ALIASES: Final = 20
_OVERRIDDEN: Final = InterfaceSlot[tuple[Target, str], bool]("a derived class may override a member")
_STRANGERS: Final = InterfaceSlot[tuple[Target, str], bool]("a derived class has an unrelated member")
_MEMBERS: Final = frozenset(("method", "property", "field"))
_INSTANTIABLE: Final = CLASSES - {"type", "impl"}


class Values:
    """Finds values by annotations, by what makes them and by what holds them.

    A member of a declared class stands for those that override it as well, unless it has to be `exact`.
    """

    def __init__(
        self,
        linker: ImportResolver,
        receivers: Receivers,
        meaning: Callable[[RepoPath, str, Occurrence], Target],
        *,
        exact: bool,
    ) -> None:
        self._linker = linker
        self._exact = exact
        self._sources = linker.sources
        self._receivers = receivers
        self.narrowing = Narrowing(linker, lambda path, scope, text: self.said(path, scope, text).target)
        self.results = Results(linker, receivers, self)
        self._writes = Writes(linker, meaning, lambda path, scope, text: self.said(path, scope, text).target)

    def is_another_in_file(self, path: RepoPath, facts: ForeignFile, name: str, target: Target) -> bool:
        """Whether a name in a type means something else in the scope of the file: who reads the type late may
        read it there."""
        spec = self._linker.spec(facts)
        other = self._linker.lexical(path, 0, name) if spec.types.deferred_annotations else target
        is_there = facts.bound(0, name) is not None or name in spec.types.builtins or other != UNRESOLVED
        return is_there and other != target

    def of_bind(self, path: RepoPath, facts: ForeignFile, at: int) -> Value:
        bind = facts.binds[at]
        if not bind.certain:
            return NO_VALUE
        if bind.reason == Reason.IMPORT_ALIAS:
            return self.typed(self._linker.imported(path, bind.target))
        if bind.reason == Reason.DEF_IN_SCOPE:
            is_part = (
                facts.definitions[bind.target].kind in SPACES
                and self._linker.spec(facts).scopes.open_functions
            )
            # Other files have more of the namespace.
            return NO_VALUE if is_part else self.typed((Place(path, bind.target),))
        if bind.reason == Reason.PARAM and (owner := self._receivers.receiver_class(path, facts, at)):
            is_asked = at in self._sources.tested_binds(facts)
            is_bound = self._receivers.is_bound(path, bind, owner)
            return Value(owner, is_instance=True, is_declared=is_asked, is_bound=is_bound)
        if bind.type_name.endswith(MADE):
            value = self.results.of(path, bind.scope, bind.type_name)
            # What a class has made is no instance of a derived one, unless somebody doubts that.
            is_asked = at in self._sources.tested_binds(facts)
            return value._replace(is_declared=value.is_declared or is_asked) if value.target else value
        # A parameter's type is written outside of the scope that the parameter is in.
        outer = facts.scopes.parent(bind.scope) if bind.reason == Reason.PARAM else bind.scope
        params = facts.named(bind.scope, split_path(bind.type_name)[0])
        if params is not None and params != bind and params.reason == Reason.PARAM:
            return NO_VALUE  # a parameter of the type that the function is written for
        value = self.said(path, outer, bind.type_name)
        return value if bind.reason == Reason.PARAM else self.made(facts, value)

    def declared(self, target: Target) -> Value:
        """An instance of a class or of one that is derived from it."""
        return Value(target, is_instance=True, is_declared=True) if target else NO_VALUE

    def said(self, path: RepoPath, scope: int, type_name: str) -> Value:
        """An instance of the class that a value is declared as."""
        facts, first = self._sources.facts(path), split_path(type_name)[0]
        around = self._linker.lexical(path, scope, first)
        if facts is not None and known(around) and self.is_another_in_file(path, facts, first, around):
            return NO_VALUE
        if facts is not None and self._is_in_namespace(facts, scope, first):
            return NO_VALUE
        return self.instance(path, scope, type_name)

    def _is_in_namespace(self, facts: ForeignFile, scope: int, name: str) -> bool:
        """Whether a name that is written in a namespace may mean what another part of that has."""
        has_parts = self._linker.spec(facts).scopes.name_spaces.get("namespace") == "n"
        for at in self._linker.outward(facts, scope) if has_parts else ():
            if facts.bound(at, name) is not None:
                return False
            if facts.scopes.kind(at) == ScopeKind.NAMESPACE:
                return any(kind in SPACES for _, kind in self._sources.held(name))
        return False

    def instance(self, path: RepoPath, scope: int, type_name: str) -> Value:
        target = self._unaliased(self._type_named(path, scope, type_name) if type_name else UNRESOLVED)
        is_class = bool(target) and all(map(self._is_instantiable, target))
        is_class = is_class and not any(map(self._linker.making.is_replaced, target))
        return self.declared(target if is_class else UNRESOLVED)

    def constructed(self, path: RepoPath, scope: int, name: str) -> Value:
        """An instance of the class that a call of a name makes: a type alone makes none."""
        facts = self._sources.facts(path)
        spaces = self._linker.spec(facts).scopes.name_spaces if facts is not None else {}
        if "v" in spaces.get("class", ""):
            places = known(self._linker.written(path, scope, name))
            kinds = {self._linker.definition_kind(place) for place in places}
            if {kind for kind in kinds if "v" in spaces.get(kind, "v")} != {"class"}:
                return NO_VALUE
        return self.instance(path, scope, name)

    def _is_instantiable(self, place: Place) -> bool:
        kind = self._linker.definition_kind(place)
        facts = self._sources.facts(place.path)
        if kind in _INSTANTIABLE or kind != "type" or facts is None:
            return kind in _INSTANTIABLE
        # An alias has the members of a type without a name, and of those that it puts together with it.
        signature = facts.definitions[place.definition].signature
        parts = self._linker.spec(facts).types.intersection_parts(signature)
        return place.definition in facts.holders if parts is None else OTHER_TYPE not in parts

    def _unaliased(self, target: Target) -> Target:
        """What an alias of a type stands for, where that is one name."""
        for _ in range(_MOST_ALIASES):
            facts = self._sources.facts(target[0].path) if len(target) == 1 else None
            if facts is None or target[0].definition < 0:
                return target
            item = facts.definitions[target[0].definition]
            if item.kind != "type" or not item.annotation:
                return target
            target = self._type_named(target[0].path, item.scope, item.annotation)
        return UNRESOLVED

    def _type_named(self, path: RepoPath, scope: int, text: str) -> Target:
        return self._linker.of_space(known(self._linker.written(path, scope, text)), "t")

    def typed(self, target: Target) -> Value:
        """A definition as a value: a variable stands for what it holds, everything else for itself."""
        target = self._linker.of_space(self._linker.opened(known(target)), "vn")
        is_property = bool(target) and all(self._linker.definition_kind(one) == "property" for one in target)
        if is_property and target == self._linker.grouped(target[0]):
            target = target[:1]  # what sets it has the type of what gets it
        if len(target) != 1 or self._linker.definition_kind(target[0]) not in _VALUES:
            is_other = any(map(self._linker.making.is_replaced, target))
            return NO_VALUE if is_other else Value(target)
        place = target[0]
        facts = self._sources.require_facts(place.path)
        item = facts.definitions[place.definition]
        bind = facts.named(item.scope, item.name)
        is_single = bind is not None and bind.certain and bind.reason == Reason.DEF_IN_SCOPE
        said = item.annotation or (self.results.returned(facts, item) if is_property else "")
        if said.endswith(MADE):
            return self._given(place, facts, item)
        if said:
            return self.said(place.path, item.scope, said)
        is_field = item.parent >= 0 and self._linker.spec(facts).types.field_inference
        if bind is None or not is_single or is_field:
            return NO_VALUE
        if bind.type_name.endswith(MADE):
            value = self.results.of(place.path, item.scope, bind.type_name)
            return value._replace(is_declared=True) if value.target else value
        return self.made(facts, self.instance(place.path, item.scope, bind.type_name))

    def _given(self, place: Place, facts: ForeignFile, item: ForeignDefinition) -> Value:
        """What a field holds by all that its class gives it, unless something else may give it a value."""
        around = facts.scopes.parent(item.scope)
        said = item.annotation.removesuffix(MADE)
        value = self.made(facts, self.said(place.path, around, said))
        value = value if value.target else self.results.of(place.path, around, item.annotation)
        is_open = self._linker.spec(facts).types.field_inference == "all"
        may_change = value.target and is_open and self._writes.may_change(place, value.target)
        return NO_VALUE if may_change else value

    def held(self, member: Target) -> Value:
        """What a member stands for behind its owner: one that a class holds may decide itself what is got."""
        value = self.typed(member)
        facts = self._sources.facts(member[0].path) if value.is_instance else None
        getter = self._linker.spec(facts).types.descriptor if facts is not None else ""
        if facts is None or not getter:
            return value
        item = facts.definitions[member[0].definition]
        is_held = item.parent >= 0 and facts.named(item.scope, item.name) is not None
        if not is_held or item.kind == "property":
            return value
        is_listed = self._linker.making.is_listing((Place(member[0].path, item.parent),))
        decides = is_listed or self._linker.classes.member(value.target, getter) != UNRESOLVED
        return NO_VALUE if decides else value

    def made(self, facts: ForeignFile, value: Value) -> Value:
        """The value, unless its class decides by itself what it makes."""
        spec = self._linker.spec(facts)
        if not value.target or not spec.types.new_method:
            return value
        has_maker = known(self._linker.classes.member(value.target, spec.types.new_method))
        return NO_VALUE if has_maker or self._linker.making.is_made_by_another(value.target) else value

    def is_narrowed(self, path: RepoPath, value: Value, name: str, asked: list[str] | None) -> bool:
        """Whether a value may be of a type with another member of the name, by what the code asks of it."""
        is_open = bool(asked) and value.is_instance and bool(value.target)
        return is_open and self.narrowing.may_mean_another(path, asked or (), value.target, name)

    def inside(
        self, path: RepoPath, value: Value, name: str, is_called: bool = False, *, is_last: bool = False
    ) -> Target:
        if not value.target:
            return UNRESOLVED
        is_class = all(self._linker.definition_kind(place) in CLASSES for place in value.target)
        if not is_class:
            return (
                UNRESOLVED if value.is_instance else self.owned(False, self._shown(path, value.target, name))
            )
        if value.is_instance and self._linker.making.is_keyed(value.target):
            return AMBIGUOUS
        want = (METHOD if is_called else FIELD) if value.is_instance else PATH
        member = self.owned(value.is_instance, self._linker.classes.member(value.target, name, want=want))
        if value.is_bound and known(self._linker.classes.member(value.target, name, of_bases=True)):
            return AMBIGUOUS
        if value.is_declared and known(member) and self._may_be_replaced(value.target, name):
            is_family = not self._exact and not self._has_strangers(value.target, name)
            keeps_meaning = is_family and (is_last or self._keeps_type(value.target, member, name))
            return member if keeps_meaning else AMBIGUOUS
        return member

    def _keeps_type(self, owner: Target, member: Target, name: str) -> bool:
        """Whether a member has a declared type, and every derived class that declares another one for it
        declares one that is derived from that."""
        declared_type = self._declared_by(member[0])
        if not declared_type:
            return False
        order = self._linker.classes.order
        heirs = [one for one in self._linker.holders(name) if one != owner and owner in order(one)]
        own = [self._linker.classes.member(heir, name) for heir in heirs]
        said = [self._declared_by(one[0]) for one in own if known(one)]
        return all(not one or declared_type in order(one) for one in said)

    def _declared_by(self, place: Place) -> Target:
        """The class that a member is declared to be of, or to give when it is called."""
        facts = self._sources.facts(place.path) if place.definition >= 0 else None
        if facts is None:
            return UNRESOLVED
        item = facts.definitions[place.definition]
        said = item.annotation or (self.results.returned(facts, item) if item.body >= 0 else "")
        return (
            UNRESOLVED if not said or said.endswith(MADE) else self.said(place.path, item.scope, said).target
        )

    def owned(self, instance: bool, found: Target) -> Target:
        """The member, where it is one of instances or of the class itself as it has to be."""
        for place in known(found):
            facts = self._sources.facts(place.path) if place.definition >= 0 else None
            if facts is not None and self._linker.spec(facts).scopes.static_members_apart:
                item = facts.definitions[place.definition]
                if item.kind in _MEMBERS and bool(item.flags & FLAG_STATIC) == instance:
                    return UNRESOLVED
        return found

    def _shown(self, path: RepoPath, module: Target, name: str) -> Target:
        """A name behind a module. One of its submodules counts where the file itself imports that."""
        target = self._linker.lookup(module, name)
        facts = self._sources.facts(path)
        if not known(target) or (facts is not None and self._linker.spec(facts).scopes.module_keywords):
            return target
        if all(place.definition < 0 for place in target):
            return target if target in self._linker.modules(path) else UNRESOLVED
        return AMBIGUOUS if any(self._is_imported_over(path, place, name) for place in module) else target

    def _is_imported_over(self, path: RepoPath, package: Place, name: str) -> bool:
        """Whether a file imports a module whose name its package binds too, and does not import itself: which
        of the two is there depends on who was first."""
        below = tuple(self._linker.submodule(package, name)) if package.definition < 0 else UNRESOLVED
        is_first = not below or below in self._linker.modules(package.path)
        return not is_first and below in self._linker.modules(path)

    def _is_structural(self, owner: Target) -> bool:
        """Whether classes may be instances of one without saying so."""
        facts = self._sources.require_facts(owner[0].path)
        structural = self._linker.spec(facts).types.protocols
        return bool(structural.intersection(facts.definitions[owner[0].definition].bases))

    def _may_be_replaced(self, owner: Target, name: str) -> bool:
        """Whether a derived class has a member of its own under the name: an instance may mean that one."""
        facts = self._sources.facts(owner[0].path)
        if facts is None or self._linker.spec(facts).types.static_types:
            return False
        answers, key = self._sources.memo.table(_OVERRIDDEN), (owner, name)
        if key not in answers:
            is_open = self._is_structural(owner)
            answers[key] = (
                owner in self._linker.above_holders(name)
                or (is_open and any(holder != owner for holder in self._linker.holders(name)))
                or (bool(self._linker.spec(facts).types.narrowing_calls) and self._is_overtaken(owner, name))
            )
        return answers[key]

    def _is_overtaken(self, owner: Target, name: str) -> bool:
        """Whether a derived class has a member of the name from a base that goes before the class."""
        return bool(self._overtaking(owner, name))

    def _overtaking(self, owner: Target, name: str) -> list[Target]:
        """The members that derived classes have instead of one from bases that go before the class."""
        classes = self._linker.classes
        member = classes.member(owner, name)
        heirs = [heir for heir in self._writes.heirs(owner) if len(classes.bases(heir)) > 1]
        members = [known(classes.member(heir, name)) for heir in heirs]
        return [other for other in members if other and other != member]

    def _has_strangers(self, owner: Target, name: str) -> bool:
        """Whether an instance may have a member of the name that does not override the one of its class."""
        return self._sources.once(_STRANGERS, (owner, name), lambda: self._find_strangers(owner, name))

    def _find_strangers(self, owner: Target, name: str) -> bool:
        classes = self._linker.classes
        members = set(classes.member(owner, name))
        return self._is_structural(owner) or any(
            members.isdisjoint(classes.overridden(other[0])) for other in self._overtaking(owner, name)
        )
