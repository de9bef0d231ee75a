"""Values of instances: what a constructor gives an attribute, and what `self` is in a method."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

from codeplane.core.places import Place
from codeplane.languages.headers import Passing, header_of
from codeplane.languages.sites import SiteKind, Value, ValueKind
from codeplane.names.meaning import UNRESOLVED
from codeplane.surfaces.kinds import ancestry
from codeplane.surfaces.values import UNKNOWN, Environment, Evaluator, Located, Thing, ThingKind

_CONSTRUCTOR: Final = "__init__"
_SELF: Final = "self"
_MOST_CONSTRUCTORS: Final = 8  # that call each other
_REST: Final = re.compile(rb"[^*\w]?\*{1,2}(\w+)")
_QUOTES: Final = ('"', "'")


class InstanceEvaluator(Evaluator):
    """Follows values into objects of the repository's own classes."""

    def _attribute(self, owner: Thing, name: str, depth: int) -> Thing:
        thing = super()._attribute(owner, name, depth)
        is_open = thing.kind in (ThingKind.UNKNOWN, ThingKind.EXTERNAL) or thing.is_declared
        if not is_open or owner.made_by is None or owner.target == UNRESOLVED:
            return thing
        value = self._constructed(owner, name)
        given = self.evaluate(value, depth + 1) if value is not None else UNKNOWN
        return given if given.kind is not ThingKind.UNKNOWN else thing

    def _constructed(self, owner: Thing, name: str) -> Located | None:
        """The one value that an attribute is given, where the constructor gives it."""
        field = next(self._members_here(owner.target[0], name), None)
        sources = self.assigned_values(field) if field is not None else []
        if len(sources) != 1:
            return None
        source = sources[0][0]
        method = self.definition_around(source.path, source.value.start)
        if method is None or self.code.definition(method).name != _CONSTRUCTOR:
            return None
        environment = self.construction(owner, method)
        return source._replace(environment=environment) if environment is not None else None

    def construction(self, owner: Thing, wanted: Place) -> Environment | None:
        """What the parameters of a constructor are when an object is made: its own, or one further up."""
        call = owner.made_by
        for constructor in islice(self._members_here(owner.target[0], _CONSTRUCTOR), _MOST_CONSTRUCTORS):
            if call is None:
                return None
            environment = self.called_with(constructor, call)
            environment = Environment(environment.values, environment.calls, {_SELF: owner})
            if constructor == wanted:
                return environment
            call = self._call_above(constructor, environment)
        return None

    def base_call(self, owner: Thing) -> Located | None:
        """The call of the constructor outside that makes an object: of a class here, what its own
        constructors pass on; None where that can't be told."""
        call = owner.made_by
        if call is None or owner.target == UNRESOLVED:
            return call
        for constructor in islice(self._members_here(owner.target[0], _CONSTRUCTOR), _MOST_CONSTRUCTORS):
            environment = self.called_with(constructor, call)
            inside = Environment(environment.values, call.environment.calls, {_SELF: owner})
            above = self._call_above(constructor, inside)
            if above is None:
                return None
            call = self._unpacked(constructor, call, above)
        return call

    def _unpacked(self, constructor: Place, call: Located, above: Located) -> Located:
        """A call with `*args` and `**kwargs` put in: what is passed on as it came."""
        definition = self.code.definition(constructor).item
        header = header_of(self.code.require_facts(constructor.path).language, definition)
        parameters = header.parameters or () if header is not None else ()
        rests = {one.name for one in parameters if one.passing in (Passing.REST, Passing.NAMED_REST)}
        names = [one.name for one in parameters if one.name not in rests and one.name != _SELF]
        positional = [item for item in call.value.arguments if not item.keyword][len(names) :]
        named = [item for item in call.value.arguments if item.keyword and item.keyword not in names]
        values = dict(above.environment.values)
        items: list[Value] = []
        source = self.code.source(above.path)
        for item in above.value.items:
            rest = _REST.match(source, max(item.start - 1, 0)) if item.start > 0 else None
            if rest is None or rest[1].decode() not in rests:
                items.append(item)
                continue
            for passed in named if item.kind is ValueKind.OTHER else positional:
                key = f"*{len(values)}"
                values[key] = Located(call.path, passed._replace(keyword=""), call.environment)
                items.append(Value(ValueKind.NAME, key, keyword=passed.keyword))
        environment = replace(above.environment, values=values)
        return Located(above.path, above.value._replace(items=tuple(items)), environment)

    def _members_here(self, place: Place, name: str) -> Iterator[Place]:
        """What a class and those above it in the repository define by a name, nearest first."""
        for one in ancestry(self, place):
            member = self._own_attribute(one, name) if isinstance(one, Place) else None
            if member is not None:
                yield member[0]

    def _call_above(self, constructor: Place, environment: Environment) -> Located | None:
        """The one call of the next constructor: `super().__init__(…)`."""
        first, last = self.byte_span(constructor.path, self.code.definition(constructor).span)
        calls = [
            site
            for site in self.sites(constructor.path).within(first, last)
            if site.kind is SiteKind.CALL
            and site.value.text == _CONSTRUCTOR
            and site.value.receiver is not None
            and site.value.receiver.text == "super"
        ]
        return Located(constructor.path, calls[0].value, environment) if len(calls) == 1 else None

    def called_with(self, place: Place, call: Located) -> Environment:
        """The parameters of a function as a call gives them, those that it leaves out by their defaults."""
        environment = super().called_with(place, call)
        values = {**self._defaults(place, call), **environment.values}
        for name in list(values):
            if self._given(place.path, name, place):  # it is something else further down
                del values[name]
        receiver = call.value.receiver
        things = dict(environment.things)
        owner = self._instance(place, call, receiver) if receiver is not None else None
        if owner is not None:
            things[_SELF] = owner
        return Environment(values, environment.calls, things)

    def _instance(self, place: Place, call: Located, receiver: Value) -> Thing | None:
        """The object that a method is called on, where it is known by name or made on the spot."""
        is_plain = receiver.kind is ValueKind.NAME or (
            receiver.kind is ValueKind.CALL and receiver.receiver is None
        )
        if not is_plain or self._parameters(place)[:1] != (_SELF,):
            return None
        owner = self.evaluate(Located(call.path, receiver, call.environment))
        return owner if owner.kind is ThingKind.OBJECT and owner.target != UNRESOLVED else None

    def _parameters(self, place: Place) -> tuple[str, ...]:
        facts = self.code.require_facts(place.path)
        return tuple(facts.parameters.get(facts.definitions[place.definition].body, ()))

    def _defaults(self, place: Place, call: Located) -> dict[str, Located]:
        """The parameters that have a text as their default, where a call passes nothing that is unpacked."""
        source = self.code.source(call.path)
        starts = [item.start for item in call.value.arguments if item.start > 0]
        if any(b"*" in source[start - 1 : start + 1] for start in starts):
            return {}
        facts = self.code.require_facts(place.path)
        definition = facts.definitions[place.definition]
        if "=" not in definition.signature:
            return {}
        header = header_of(facts.language, definition)
        return {
            one.name: Located(place.path, Value(ValueKind.TEXT, one.default[1:-1]))
            for one in (header.parameters or () if header is not None else ())
            if one.default and _is_plain_text(one.default)
        }


def _is_plain_text(text: str) -> bool:
    quote = text[:1]
    return quote in _QUOTES and text.endswith(quote) and len(text) > 1 and not set(text[1:-1]) & {quote, "\\"}
