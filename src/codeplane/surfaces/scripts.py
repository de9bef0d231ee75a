"""Instances of classes in scripts: what their fields are, as each instance was made."""

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.facts import Bind
from codeplane.names.meaning import AMBIGUOUS, UNRESOLVED, is_external
from codeplane.surfaces.functions import FILE, FunctionRef, bound
from codeplane.surfaces.kinds import ancestry
from codeplane.surfaces.script_values import DEEPEST, ScriptValues
from codeplane.surfaces.values import UNKNOWN, Environment, Located, Origin, Thing, ThingKind, single_thing


class ScriptEvaluator(ScriptValues):
    """Follows values through modules, closures, classes and literals."""

    def _attribute(self, owner: Thing, name: str, depth: int) -> Thing:
        if owner.target == UNRESOLVED or not self.speaks(owner.target[0].path) or depth > DEEPEST:
            return super()._attribute(owner, name, depth)
        target = self.code.member_of(owner.target, name)
        if target not in (UNRESOLVED, AMBIGUOUS) and not is_external(target) and target[0].definition >= 0:
            kind = self.code.definition_kind(target[0])
            if kind in ("method", "function", "class"):
                return Thing(ThingKind.DEFINITION, target=target)
            if kind == "property":
                return self._getter(owner, target[0], depth)
        key = (owner.target, owner.origin, name)
        if key in self._evaluating:
            return UNKNOWN
        self._evaluating.add(key)
        try:
            return self._field(owner, name, depth)
        finally:
            self._evaluating.discard(key)

    def _getter(self, owner: Thing, place: Place, depth: int) -> Thing:
        ref = self.function_of(Thing(ThingKind.DEFINITION, target=(place,)))
        if ref is None:
            return UNKNOWN
        environment = Environment(calls=self._marker(owner), things={"this": owner})
        values = self._returned_in(ref, environment)
        return single_thing([self.evaluate(value, depth + 1) for value in values])

    def _field(self, owner: Thing, name: str, depth: int) -> Thing:
        """What the nearest class gives a field: in its body, in a method, or by a parameter."""
        for one in ancestry(self, owner.target[0]):
            if isinstance(one, str):
                return Thing(ThingKind.EXTERNAL, f"{one}().{name}")
            first, last = self.byte_span(one.path, self.code.definition(one).span)
            table = self.sites(one.path).by_name
            sources: list[Located] = []
            for site in (*table.get(name, ()), *table.get(f"this.{name}", ())):
                if not first <= site.start < last:
                    continue
                is_in_body = self.functions(one.path).stands_in(site.start, one.definition)
                if site.name == name and not is_in_body:
                    continue
                sources.append(Located(one.path, site.value, self.inside_of(owner, one, site.start)))
            things = [self.evaluate(source, depth + 1) for source in sources]
            things = [thing for thing in things if thing.kind is not ThingKind.UNKNOWN] or things
            if things:
                return single_thing(things)
            parameter = self._parameter_field(owner, one, name, depth)
            if parameter.kind is not ThingKind.UNKNOWN:
                return parameter
        return UNKNOWN

    def declared_instance(self, path: RepoPath, bind: Bind) -> Thing:
        """An instance of the type that a parameter is declared with."""
        return self._declared(path, bind.scope, bind.type_name)

    def inside_of(self, owner: Thing, place: Place, start: int) -> Environment:
        """The names in a class as an instance of it knows them."""
        values = {}
        functions = self.functions(place.path)
        scope = functions.at(start)
        constructor = self._constructor_of(place)
        if constructor is not None and owner.made_by is not None and scope == constructor[1]:
            values = bound(functions.parameters(scope), owner.made_by)
        return Environment(values, self._marker(owner), {"this": owner})

    def _marker(self, owner: Thing) -> tuple[Origin, ...]:
        """What tells the objects of one instance from those of another."""
        place = owner.target[0]
        marker = Origin(place.path, -2 - place.definition)
        return (marker, owner.origin) if owner.origin is not None else (marker,)

    def constructor_of(self, thing: Thing) -> FunctionRef | None:
        """The constructor that making an instance runs, of its class or one above."""
        for one in ancestry(self, thing.target[0]):
            constructor = self._constructor_of(one) if isinstance(one, Place) else None
            if constructor is not None:
                return FunctionRef(constructor[0].path, constructor[1], Environment(), constructor[0])
        return None

    def _constructor_of(self, place: Place) -> tuple[Place, int] | None:
        if not self.speaks(place.path):
            return None
        facts, functions = self.code.require_facts(place.path), self.functions(place.path)
        for number, item in enumerate(facts.definitions):
            scope = functions.scope_of(number)
            if item.parent == place.definition and item.name == "constructor" and scope != FILE:
                return Place(place.path, number), scope
        return None

    def _parameter_field(self, owner: Thing, place: Place, name: str, depth: int) -> Thing:
        """`constructor(private app: App)`: what was given, or an instance of the declared type."""
        constructor = self._constructor_of(place)
        if constructor is None:
            return UNKNOWN
        _, scope = constructor
        parameters = self.functions(place.path).parameters(scope)
        if not any(parameter.name == name and parameter.is_field for parameter in parameters):
            return UNKNOWN
        if owner.made_by is not None:
            value = bound(parameters, owner.made_by).get(name)
            thing = self.evaluate(value, depth + 1) if value is not None else UNKNOWN
            if thing.kind is not ThingKind.UNKNOWN:
                return thing
        facts = self.code.require_facts(place.path)
        for bind in facts.binds:
            if bind.scope == scope and bind.name == name:
                return self._declared(place.path, bind.scope, bind.type_name)
        return UNKNOWN
