"""Which objects of a framework values stand for."""

from collections.abc import Iterator
from typing import NamedTuple

from codeplane.core.places import Place
from codeplane.languages.sites import SiteKind, Value, ValueKind
from codeplane.surfaces.rule import Rule
from codeplane.surfaces.values import Evaluator, Located, Origin, Thing, ThingKind


class Typed(NamedTuple):
    """An object, and the kind that it is to the framework."""

    thing: Thing
    kind: str


class Kinds:
    """The types of one rule."""

    def __init__(self, evaluator: Evaluator, rule: Rule) -> None:
        self._evaluator, self._types = evaluator, rule.types
        self._called = {
            name for one in rule.types.values() for name in (*one.chains, *one.called, *one.derives)
        }

    def type_of(self, thing: Thing) -> str | None:
        """The kind of object that something is to the framework."""
        if thing.kind is not ThingKind.OBJECT:
            return None
        names = {thing.text} if thing.text else set(self._evaluator.bases(thing.target[0]))
        return next(
            (kind for kind, rule in self._types.items() if names & {*rule.new, f"<{kind}>"}),
            None,
        )

    def typed_object(self, located: Located) -> Typed | None:
        """The object that a value is, straight or by an attribute that stands for it."""
        thing = self._evaluator.evaluate(located)
        kind = self.type_of(thing)
        if kind is not None:
            return Typed(thing, kind)
        if thing.kind is ThingKind.OBJECT and thing.made_by is not None:
            return self._by_call(thing.made_by)
        return self._by_attribute(located, lists=False)

    def _by_call(self, located: Located) -> Typed | None:
        """`router.get(…)` and `router.routes()` stand for the router, `app.basePath(…)` makes another."""
        path, value, environment = located
        receiver = value.receiver
        if receiver is None or value.text not in self._called:
            return None
        inner = self.typed_object(Located(path, receiver, environment))
        if inner is None:
            return None
        rule = self._types[inner.kind]
        if value.text in rule.derives:
            origin = Origin(path, value.start, environment.calls)
            kind = rule.derives[value.text].kind
            return Typed(Thing(ThingKind.OBJECT, f"<{kind}>", origin=origin), kind)
        return inner if value.text in (*rule.chains, *rule.called) else None

    def listed_object(self, located: Located) -> Typed | None:
        """The object whose list of routes a value is: `router.urls`."""
        return self._by_attribute(located, lists=True)

    def _by_attribute(self, located: Located, *, lists: bool) -> Typed | None:
        path, value, environment = located
        owner, name = _split_attribute(value)
        if owner is None or not any(name in (*rule.same, *rule.lists) for rule in self._types.values()):
            return None
        inner = self.typed_object(Located(path, owner, environment))
        if inner is None:
            return None
        rule = self._types[inner.kind]
        return inner if name in (rule.lists if lists else rule.same) else None


def _split_attribute(value: Value) -> tuple[Value | None, str]:
    if value.kind is ValueKind.MEMBER:
        return value.items[0], value.text
    if value.kind is ValueKind.NAME and "." in value.text:
        owner, _, name = value.text.rpartition(".")
        return Value(ValueKind.NAME, owner, value.start), name
    return None, ""


def ancestry(evaluator: Evaluator, place: Place, depth: int = 0) -> Iterator[Place | str]:
    """A class and the classes that it is derived from, nearest first: places here, full names outside."""
    yield place
    if depth > 12:
        return
    definition = evaluator.code.definition(place)
    first, last = evaluator.byte_span(place.path, definition.span)
    for site in evaluator.sites(place.path).within(first, last):
        if site.kind is not SiteKind.CLASS or site.name != definition.name:
            continue
        for base in site.value.items:
            thing = evaluator.evaluate(Located(place.path, base)) if not base.keyword else None
            if thing is not None and thing.kind is ThingKind.EXTERNAL:
                yield thing.text
            elif thing is not None and thing.kind is ThingKind.DEFINITION and thing.target[0] != place:
                yield from ancestry(evaluator, thing.target[0], depth + 1)
        return


def class_attribute(evaluator: Evaluator, place: Place, name: str) -> Located | None:
    """The one value that a class gives an attribute in its body, or that the nearest class above gives it."""
    for one in ancestry(evaluator, place):
        if isinstance(one, str):
            continue
        facts = evaluator.code.require_facts(one.path)
        for number, item in enumerate(facts.definitions):
            if item.name == name and item.parent == one.definition:
                sources = evaluator.assigned_values(Place(one.path, number))
                return sources[0][0] if len(sources) == 1 else None
    return None
