"""Members of classes through their bases, in the order in which they are looked up."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from codeplane.core.kinds import CLASSES, split_path
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.slots import InterfaceSlot
from codeplane.index.view.foreign import ForeignFile
from codeplane.languages import LanguageSpec
from codeplane.languages.facts import FLAG_ASIDE, FLAG_MORE, MADE, OTHER_TYPE, Reason
from codeplane.languages.foreign import ForeignDefinition
from codeplane.names.meaning import AMBIGUOUS, UNRESOLVED, Target, external, is_external, known
from codeplane.names.overloads import hides_all, is_overload

if TYPE_CHECKING:
    from codeplane.names.imports import ImportResolver

_BASES: Final = CLASSES | {"module"}
_MOST_CLASSES: Final = 500
_DEEPEST: Final = 50
_MEMBER: Final = InterfaceSlot[tuple[Target, str, bool, str], Target]("member of a class")
_WHOLE: Final = InterfaceSlot[Place, Target]("all parts of a class")
_ORDER: Final = InterfaceSlot[Target, list[Target]]("method resolution order")
_EXTENSIONS: Final = InterfaceSlot[Place, list[Place]]("extensions of a class", guards_itself=True)

FIELD: Final = "field"
METHOD: Final = "method"
PATH: Final = "path"  # behind the name of the type: everything but a field


class Classes:
    """What classes have, seen through the linker."""

    def __init__(self, linker: "ImportResolver") -> None:
        self._linker = linker
        self._sources = linker.sources

    def member(self, owner: Target, name: str, of_bases: bool = False, want: str = "") -> Target:
        """The member that instances of a class have under a name, its own or (with `of_bases`) that of its
        bases alone. AMBIGUOUS where a class that is not known comes before the one that has it. `want` counts
        where fields and methods may share a name."""
        owner = self.whole(owner)
        if not owner or owner == AMBIGUOUS:
            return owner
        key = (owner, name, of_bases, want)
        return self._linker.once(_MEMBER, key, lambda: self._member(owner, name, of_bases, want))

    def whole(self, owner: Target) -> Target:
        """A class with all of its parts, where it is written in several that say so."""
        if len(owner) != 1 or owner[0].definition < 0 or not self._is_part(owner[0]):
            return owner
        wholes = self._sources.memo.table(_WHOLE)
        if owner[0] not in wholes:
            name = self._sources.namespace(owner[0])
            last = name.rpartition(".")[2]
            parts = [one for one in self._sources.definitions(last) if self._is_part(one)]
            wholes[owner[0]] = tuple(
                one
                for one in parts
                if self._sources.namespace(one) == name and self._share(owner[0].path, one.path)
            )
        return wholes[owner[0]]

    def _share(self, path: RepoPath, other: str) -> bool:
        """Whether a name can mean one thing in two files without an import."""
        facts = self._sources.facts(path)
        return path == other or facts is None or self._linker.spec(facts).surface != "exported"

    def _is_part(self, place: Place) -> bool:
        facts = self._sources.facts(place.path)
        item = facts.definitions[place.definition] if facts else None
        return item is not None and item.kind in CLASSES and bool(item.flags & FLAG_MORE)

    def may_hide(self, place: Place, name: str) -> bool:
        """Whether a class has or may have the name from a base or from another part of it."""
        parts = self.whole((place,))
        if any(self._own((part,), name) for part in parts if part != place):
            return True
        return self.member(parts, name, of_bases=True) != UNRESOLVED

    def declared(self, place: Place) -> Target:
        """What a member of a class is: itself, or what a base declares where it is only given a value."""
        facts = self._sources.facts(place.path)
        item = facts.definitions[place.definition] if facts is not None else None
        is_own = item is None or item.parent < 0
        may_be_other = self._is_only_assigned((place,)) or self._is_made_aside(place)
        if is_own or not (may_be_other or self._is_conditional((place,))):
            return self._linker.grouped(place)
        assert item is not None, "BUG: a member is in its file"
        return self.member(self._linker.grouped(Place(place.path, item.parent)), item.name)

    def order(self, owner: Target) -> list[Target]:
        """The class and its bases in the order of lookup. Empty where there is no such order."""
        owner = self.whole(owner)
        orders = self._sources.memo.table(_ORDER)
        order = orders.get(owner)
        if order is None:
            order = orders[owner] = _linearized(owner, self.bases, orders.get)
        return order

    def bases(self, owner: Target) -> list[Target]:
        """The bases as written; those of traits that are implemented elsewhere too. Plain ones from outside
        are left out."""
        base_types: list[Target] = []
        for place in owner:
            facts = self._sources.facts(place.path)
            if facts is None or place.definition < 0:
                continue
            item = facts.definitions[place.definition]
            plain = self._linker.spec(facts).types.memberless_bases
            for text in item.bases:
                base = self._base(place, facts, item, text)
                if base != (place,) and not (is_external(base) and text in plain):
                    base_types.append(base)
            parts = self._parts(place)
            base_types += parts if not any(map(is_external, parts)) else []
            for extension in self._extensions(place, item):
                base_types += [base for base in self.bases((extension,)) if base != owner]
        return list(dict.fromkeys(base_types))

    def overridden(self, place: Place) -> list[Place]:
        """The members of bases that a member takes the place of, nearest first."""
        facts = self._sources.facts(place.path) if place.definition >= 0 else None
        item = facts.definitions[place.definition] if facts is not None else None
        owner = Place(place.path, item.parent) if item is not None and item.parent >= 0 else None
        if item is None or owner is None or self._linker.definition_kind(owner) not in CLASSES:
            return []
        members: list[Place] = []
        for target in self.order((owner,))[1:]:
            for base in target if not is_external(target) else ():
                there = self._sources.facts(base.path)
                members += (
                    [Place(base.path, at) for at in there.inside(base.definition, item.name)] if there else []
                )
        return members

    def parent(self, owner: Target) -> Target:
        """The one class that a class extends, traits that are mixed in aside."""
        for base in self.bases(owner):
            kind = "" if is_external(base) else self._linker.definition_kind(base[0])
            if kind != "trait":
                return base if kind == "class" else UNRESOLVED
        return UNRESOLVED

    def _member(self, owner: Target, name: str, of_bases: bool, want: str) -> Target:
        spec = self._spec(owner)
        if spec is not None and spec.types.nearest_base:
            return self._nearest(owner, name, of_bases, want if spec.scopes.methods_apart else "")
        order = self.order(owner)
        if not order:
            return AMBIGUOUS if of_bases else self._own(owner, name) or AMBIGUOUS
        weak_member: Target = UNRESOLVED
        aside: Target = UNRESOLVED
        is_listed = False
        for one in order[1:] if of_bases else order:
            if is_external(one):
                if not self._lacks(owner, one, name):
                    return AMBIGUOUS
            elif member := self._own(one, name):
                if known(member) and self._is_made_aside(member[0]):
                    aside = member
                    continue
                if not self._is_only_assigned(member):
                    is_open = self._is_conditional(member) and self._may_follow(owner, order, one, name)
                    return AMBIGUOUS if is_open else self._with_overloads(order, one, member, name)
                weak_member = weak_member or (AMBIGUOUS if is_listed else member)
            else:
                is_listed = is_listed or self._may_list(one, name)
        weak_member = weak_member or aside
        return (
            AMBIGUOUS
            if weak_member and spec is not None and name in spec.types.object_members
            else weak_member
        )

    def _with_overloads(self, order: list[Target], owner: Target, member: Target, name: str) -> Target:
        """A method with those of bases that it does not override: which one a call means takes the types of
        its arguments. Everything else hides what bases have."""
        facts = self._sources.facts(member[0].path) if known(member) and member[0].definition >= 0 else None
        if (
            facts is None
            or self._definition(member[0]).kind not in self._linker.spec(facts).scopes.overloaded_kinds
        ):
            return member
        places = list(member)
        for base in order[order.index(owner) + 1 :]:
            if is_external(base):
                if self._may_mean_outside(facts, base[0].path, places):
                    return AMBIGUOUS
                continue
            methods = self._own(base, name)
            if methods == AMBIGUOUS:
                return AMBIGUOUS
            places += self._inherited_overloads(facts.language, methods, places)
        root = self._linker.spec(facts).types.root_class
        return AMBIGUOUS if root and self._may_mean_outside(facts, root, places) else tuple(places)

    def _inherited_overloads(self, language: str, methods: Target, places: list[Place]) -> list[Place]:
        """The methods of a base that none of those of derived classes takes the place of."""
        overriding = [self._definition(place) for place in places]
        overloads: list[Place] = []
        for place in methods:
            item = self._definition(place) if place.definition >= 0 else None
            if item is None or item.kind != overriding[0].kind:
                continue
            owner = self._definition(Place(place.path, item.parent)) if item.parent >= 0 else None
            if is_overload(language, item, owner, overriding):
                overloads.append(place)
        return overloads

    def _may_mean_outside(self, facts: ForeignFile, base: str, places: list[Place]) -> bool:
        """Whether a class from outside may have an overload that none of some methods overrides:
        `add(int, int, int)` of a class that extends `ArrayList`, which has `add(E)`."""
        overriding = [self._definition(place) for place in places]
        if overriding[0].kind == "constructor":
            return False
        overloads = self._linker.spec(facts).types.outside_overloads(base, overriding[0].name)
        return overloads is None or not hides_all(facts.language, overloads, overriding)

    def _is_conditional(self, target: Target) -> bool:
        """Whether a class makes a method under a condition: it stands deeper than the others."""
        place = target[0]
        facts = self._sources.facts(place.path) if place.definition >= 0 else None
        item = facts.definitions[place.definition] if facts is not None else None
        if facts is None or item is None or item.body < 0 or not self._linker.spec(facts).is_indented:
            return False
        return place.definition in facts.deeper

    def _may_follow(self, owner: Target, order: list[Target], one: Target, name: str) -> bool:
        """Whether a class behind another one in the order of lookup has a member, or may have it."""
        for other in order[order.index(one) + 1 :]:
            if not self._lacks(owner, other, name) if is_external(other) else self._own(other, name):
                return True
        return False

    def _may_list(self, owner: Target, name: str) -> bool:
        """Whether a class may list a member that it gives no value: what a base gives a value is another."""
        for place in owner:
            facts = self._sources.facts(place.path)
            slots = self._linker.spec(facts).types.slots if facts is not None else ""
            if facts is None or not slots:
                return False
            for at in facts.inside(place.definition, slots):
                if facts.reserved_widths[at] - len(slots) - len("=''") >= len(name):
                    return True
        return False

    def _is_only_assigned(self, target: Target) -> bool:
        """Whether a member is merely given a value: a base that declares it then says what it is."""
        place = target[0]
        facts = self._sources.facts(place.path) if place.definition >= 0 else None
        if facts is None or not self._linker.spec(facts).types.declared_members_first:
            return False
        item = facts.definitions[place.definition]
        return item.kind in ("field", "variable", "constant") and (
            not item.annotation or item.annotation.endswith(MADE)
        )

    def _is_made_aside(self, place: Place) -> bool:
        """Whether a member is only made where code gives values to what bases have."""
        facts = self._sources.facts(place.path) if place.definition >= 0 else None
        return facts is not None and bool(facts.definitions[place.definition].flags & FLAG_ASIDE)

    def _lacks(self, owner: Target, base: Target, name: str) -> bool:
        """Whether a class from outside is known not to have a member."""
        facts = self._sources.facts(owner[0].path)
        return facts is not None and not self._linker.spec(facts).types.may_have(base[0].path, name)

    def _nearest(self, owner: Target, name: str, of_bases: bool, want: str) -> Target:
        """The member of the class, or the one of the bases that are nearest."""
        level, closure = [owner], {owner}
        for depth in range(_DEEPEST):
            known_ones = [one for one in level if not is_external(one)]
            own = self._apart if want else self._plain
            candidates = [] if of_bases and not depth else [own(one, name, want) for one in known_ones]
            if any(candidates):
                return self._linker.single(candidates)
            if len(known_ones) < len(level):
                return AMBIGUOUS
            level = [base for one in level for base in self.bases(one) if base not in closure]
            level = list(dict.fromkeys(level))
            closure |= set(level)
            if not level:
                return UNRESOLVED
        return AMBIGUOUS

    def _plain(self, owner: Target, name: str, want: str) -> Target:
        del want
        return self._own(owner, name)

    def _apart(self, owner: Target, name: str, want: str) -> Target:
        """What a type itself or a block outside of it defines; blocks that a trait asks for come last."""
        near: list[Target] = []
        far: list[Target] = []
        for place in owner:
            facts = self._sources.facts(place.path)
            if facts is None:
                return AMBIGUOUS
            near.append(self._wanted(place, name, want))
            for extension in self._extensions(place, facts.definitions[place.definition]):
                item = self._definition(extension)
                (far if item.bases else near).append(self._wanted(extension, name, want))
        return self._linker.single(near) or self._linker.single(far)

    def _wanted(self, place: Place, name: str, want: str) -> Target:
        facts = self._sources.require_facts(place.path)
        choices = [
            Place(place.path, at)
            for at in facts.inside(place.definition, name)
            if facts.definitions[at].kind == want or (want == PATH and facts.definitions[at].kind != FIELD)
        ]
        return AMBIGUOUS if len(choices) > 1 else tuple(choices)

    def _definition(self, place: Place) -> ForeignDefinition:
        facts = self._sources.require_facts(place.path)
        return facts.definitions[place.definition]

    def _spec(self, owner: Target) -> LanguageSpec | None:
        facts = self._sources.facts(owner[0].path) if owner else None
        return self._linker.spec(facts) if facts is not None else None

    def _base(self, place: Place, facts: ForeignFile, item: ForeignDefinition, text: str) -> Target:
        target = known(self._linker.written(place.path, item.scope, text))
        if item.kind in ("interface", "type"):
            target = self._linker.of_space(target, "t")
        if target and all(map(self._may_be_base, target)):
            return self.whole(target)
        first, *rest = split_path(text)
        bind = facts.named(item.scope, first) or facts.named(0, first)
        if not target and bind is None and text != OTHER_TYPE:
            return external(self._starred(facts, text))
        if not target and bind and bind.certain and bind.reason == Reason.IMPORT_ALIAS:
            full = facts.full_names.get(first, "")
            head = facts.imports[bind.target].module.partition(".")[0]
            if full and not full.startswith(".") and not self._linker.module(place.path, head):
                return external(".".join([full, *rest]))
        # What it is cannot be said, and it is nobody else's base.
        return external(f"{place.path}:{place.definition}:{text}")

    def _starred(self, facts: ForeignFile, text: str) -> str:
        """The full name of a base that a file has from `import java.util.*`, where the language knows one."""
        types = self._linker.spec(facts).types
        names = [f"{facts.imports[at].module}.{text}" for at in facts.stars if types.root_class]
        return next((name for name in names if types.outside_overloads(name, "") is not None), text)

    def _may_be_base(self, place: Place) -> bool:
        return self._linker.definition_kind(place) in _BASES and not self._linker.making.is_replaced(place)

    def _own(self, owner: Target, name: str) -> Target:
        """What the class itself defines under a name, in its body or outside of it."""
        member = self._defined(owner, name)
        is_own = member != UNRESOLVED
        return AMBIGUOUS if any(self._is_of_several(place, name, is_own) for place in owner) else member

    def _defined(self, owner: Target, name: str) -> Target:
        candidates: list[Target] = []
        for place in owner:
            facts = self._sources.facts(place.path)
            if facts is None:
                return AMBIGUOUS
            item = facts.definitions[place.definition]
            if item.body >= 0 and facts.bound(item.body, name) is not None:
                candidates.append(self._linker.bound(place.path, facts.named(item.body, name)))
            else:
                candidates.append(self._linker.defined(place, facts, name))
            if not self._linker.spec(facts).types.members_declared_in_class:
                candidates += self._outside(place, item, name)
        return self._linker.single(candidates)

    def _is_of_several(self, alias: Place, name: str, is_own: bool) -> bool:
        """Whether a member may be another one, or more than one, of the types that an alias puts together."""
        parts = self._parts(alias)
        having = [part for part in parts if is_external(part) or self._may_have(part, name)]
        return len(having) + is_own > 1 or any(map(is_external, having))

    def _may_have(self, part: Target, name: str) -> bool:
        order = self.order(part)
        return not order or any(
            is_external(one)
            or self._defined(one, name) != UNRESOLVED
            or any(is_external(other) for place in one for other in self._parts(place))
            for one in order
        )

    def _parts(self, alias: Place) -> list[Target]:
        """The types that an alias puts together with what it writes out: `A & { m(): void }`."""
        facts = self._sources.require_facts(alias.path)
        item, types = facts.definitions[alias.definition], self._linker.spec(facts).types
        texts = types.intersection_parts(item.signature) if item.kind == "type" else ()
        return [self._base(alias, facts, item, text) for text in texts or ()]

    def _outside(self, place: Place, item: ForeignDefinition, name: str) -> list[Target]:
        members: list[Target] = []
        for extension in self._extensions(place, item):
            facts = self._sources.require_facts(extension.path)
            other = facts.definitions[extension.definition]
            if other.kind == "impl":
                members.append(self._linker.defined(extension, facts, name))
            elif other.name == name:
                members.append((extension,))
        return members

    def _extensions(self, place: Place, item: ForeignDefinition) -> Sequence[Place]:
        """The definitions outside of a class that say that they belong to it."""
        extensions = self._sources.memo.table(_EXTENSIONS)
        if place not in extensions:
            extensions[place] = []  # its own name inside is not looked up through them
            extensions[place] = [one for one in self._sources.owned(item.name) if self._belongs(one, place)]
        return extensions[place]

    def _belongs(self, extension: Place, place: Place) -> bool:
        facts = self._sources.facts(extension.path)
        if facts is None or extension == place:
            return False
        item = facts.definitions[extension.definition]
        return place in self._linker.written(extension.path, item.scope, item.owner)


def _linearized(
    owner: Target,
    bases_of: Callable[[Target], list[Target]],
    kept: Callable[[Target], list[Target] | None],
) -> list[Target]:
    """C3. Classes from outside are taken to have no bases, those that cannot be told to have all that come
    behind them. Empty where the order contradicts itself or is too long."""
    orders: dict[Target, list[Target]] = {}
    waiting = [owner]
    visits: set[Target] = set()
    while waiting and len(visits) < _MOST_CLASSES:
        one = waiting[-1]
        known_order = kept(one)
        if known_order is not None:
            if not known_order:
                return []
            orders[waiting.pop()] = known_order
            continue
        bases = [] if is_external(one) else bases_of(one)
        missing = [base for base in bases if base not in orders]
        if not missing:
            waiting.pop()
            order = [one, *_merged([*(orders[base] for base in bases), bases])]
            orders[one] = _with_untold_first(order, [one, *bases])
        elif one in visits:
            return []
        else:
            visits.add(one)
            waiting += missing
    order = orders.get(owner, [])
    return order if AMBIGUOUS not in order and len(order) <= _MOST_CLASSES else []


def _is_untold(base: Target) -> bool:
    """Whether a base may be a class of the repository that could not be found."""
    return is_external(base) and ":" in base[0].path


def _with_untold_first(order: list[Target], bases: list[Target]) -> list[Target]:
    """The order with every base that cannot be told right behind the one that is written before it."""
    for before, base in pairwise(bases):
        if base in order and before in order and _is_untold(base):
            order.remove(base)
            order.insert(order.index(before) + 1, base)
    return order


def _merged(orders: list[list[Target]]) -> list[Target]:
    """The orders as one that keeps all of them; ends with AMBIGUOUS where there is none."""
    rest = [list(order) for order in orders if order]
    result: list[Target] = []
    while rest:
        tails = {one for order in rest for one in order[1:]}
        head = next((order[0] for order in rest if order[0] not in tails), None)
        if head is None:
            return [*result, AMBIGUOUS]
        result.append(head)
        rest = [[one for one in order if one != head] for order in rest]
        rest = [order for order in rest if order]
    return result
