"""The operations of GraphQL schemas: resolver maps, object types and classes that a schema is made of."""

from collections.abc import Iterator, Set
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.languages.sites import Site, SiteKind, ValueKind
from codeplane.surfaces.arguments import Arguments
from codeplane.surfaces.handlers import Handlers
from codeplane.surfaces.kinds import ancestry
from codeplane.surfaces.markers import Marked, Markers
from codeplane.surfaces.routes import Endpoint
from codeplane.surfaces.rule import Rule
from codeplane.surfaces.scripts import ScriptEvaluator
from codeplane.surfaces.values import Located, Thing, ThingKind

_DEEPEST: Final = 8
_METHODS: Final = {"Query": "QUERY", "Mutation": "MUTATION", "Subscription": "SUBSCRIPTION"}
_DECORATED: Final = {
    f"{package}.{name}": method
    for package in ("@nestjs/graphql", "type-graphql")
    for name, method in _METHODS.items()
}
_RESOLVERS: Final = {
    f"{package}.{name}"
    for package, name in (
        ("@apollo/server", "ApolloServer"),
        ("apollo-server", "ApolloServer"),
        ("apollo-server-express", "ApolloServer"),
        ("apollo-server-fastify", "ApolloServer"),
        ("apollo-server-koa", "ApolloServer"),
        ("@graphql-tools/schema", "makeExecutableSchema"),
        ("graphql-tools", "makeExecutableSchema"),
        ("graphql-yoga", "createSchema"),
        ("graphql-yoga", "GraphQLServer"),
    )
}
_SCHEMA: Final = "graphql.GraphQLSchema"
_OBJECT: Final = "graphql.GraphQLObjectType"
_STRAWBERRY: Final = {"strawberry.field", "strawberry.mutation", "strawberry.subscription"}
_PYTHON_SCHEMAS: Final = {"strawberry.Schema", "strawberry.federation.Schema", "graphene.Schema"}
_ARIADNE: Final = {f"ariadne.{name}Type": method for name, method in _METHODS.items()}


class _Operation(NamedTuple):
    method: str
    name: str
    path: RepoPath
    start: int
    handler: Place | None


class GraphqlSchema:
    """The operations in some files."""

    def __init__(
        self, evaluator: ScriptEvaluator, rule: Rule, paths: Set[RepoPath], dynamic: dict[RepoPath, int]
    ) -> None:
        self._evaluator, self._rule, self._paths, self._dynamic = evaluator, rule, paths, dynamic
        self._code, self._arguments = evaluator.code, Arguments(evaluator)
        self._handlers = Handlers(evaluator, rule)

    def endpoints(self) -> Iterator[Endpoint]:
        """Every operation, once for each place that it is defined at."""
        known_keys: set[tuple[str, str, Place | None]] = set()
        for one in (*self._decorated(), *self._called()):
            key = (one.method, one.name, one.handler)
            if key in known_keys:
                continue
            known_keys.add(key)
            line = self._evaluator.line_of(one.path, one.start)
            handler_line = self._code.definition(one.handler).name_line if one.handler is not None else line
            yield Endpoint(
                one.method,
                one.name,
                one.path,
                line,
                self._rule.framework,
                Tier.STRONG,
                one.handler,
                handler_line,
            )

    # Decorators

    def _decorated(self) -> Iterator[_Operation]:
        markers = Markers(self._evaluator, self._paths)
        for name, method in _DECORATED.items():
            for mark in markers.of(name):
                operation = self._name_of(mark)
                if operation is None:
                    self._dynamic[mark.path] = self._dynamic.get(mark.path, 0) + 1
                else:
                    yield _Operation(method, operation, mark.path, mark.call.value.start, mark.place)

    def _name_of(self, mark: Marked) -> str | None:
        for selector in ("arg0.name", "arg1.name"):
            value = self._arguments.value(mark.call, selector)
            if value is not None:
                return self._evaluator.text(value)
        first = mark.call.value.argument(0)
        if first is not None and first.kind in (ValueKind.TEXT, ValueKind.CONCAT):
            return self._evaluator.text(mark.call._replace(value=first))
        return self._code.definition(mark.place).name

    # Schemas

    def _called(self) -> Iterator[_Operation]:
        names = {full.rpartition(".")[2] for full in (*_RESOLVERS, _SCHEMA, *_PYTHON_SCHEMAS)}
        for path in sorted(self._paths):
            for site in self._evaluator.sites(path).sites:
                call = Located(path, site.value)
                if site.kind is SiteKind.DECORATOR and site.value.text == "field":
                    yield from self._of_field(path, site)
                if site.kind is not SiteKind.CALL or site.value.text not in names:
                    continue
                thing = self._evaluator.evaluate(call)
                if thing.text in _RESOLVERS:
                    resolvers = self._arguments.value(call, "arg0.resolvers")
                    yield from self._of_map(resolvers) if resolvers is not None else ()
                elif thing.text == _SCHEMA:
                    yield from self._of_objects(call)
                elif thing.text in _PYTHON_SCHEMAS:
                    yield from self._of_classes(call)

    def _of_map(self, located: Located) -> Iterator[_Operation]:
        """`{Query: {users() {…}}}`, or a list of such maps."""
        items = self._evaluator.items(located)
        for one in items if items is not None else [located]:
            thing = self._evaluator.evaluate(one)
            if thing.kind is not ThingKind.LITERAL or thing.made_by is None:
                self._dynamic[one.path] = self._dynamic.get(one.path, 0) + 1
                continue
            for name, method in _METHODS.items():
                table = self._evaluator.mapping_item(thing.made_by, name)
                yield from self._fields(table, method) if table is not None else ()

    def _fields(self, located: Located, method: str, depth: int = 0) -> Iterator[_Operation]:
        if depth > _DEEPEST:
            return
        thing = self._evaluator.evaluate(located)
        if thing.kind is not ThingKind.LITERAL or thing.made_by is None:
            ref = self._evaluator.function_of(thing)  # `fields: () => ({…})`
            for result in self._evaluator.returned_by(ref, located) if ref is not None else ():
                if result.value.kind is ValueKind.MAPPING:
                    yield from self._fields(result, method, depth + 1)
            return
        path, value, environment = thing.made_by
        for item in value.items:
            if item.keyword:
                place = self._resolver_of(Located(path, item, environment))
                yield _Operation(method, item.keyword.strip("\"'"), path, item.start, place)
            elif item.items:
                yield from self._fields(Located(path, item.items[0], environment), method, depth + 1)

    def _resolver_of(self, field: Located) -> Place | None:
        """The function of a field, straight or in `{type, resolve}`."""
        if field.value.kind is ValueKind.MAPPING:
            names = ("resolve", "subscribe")
            inner = (self._evaluator.mapping_item(field, name) for name in names)
            field = next((one for one in inner if one is not None), field)
        handlers = self._handlers.resolve(field)
        return handlers[0].place if handlers else None

    def _of_objects(self, call: Located) -> Iterator[_Operation]:
        for name, method in _METHODS.items():
            value = self._arguments.value(call, f"arg0.{name.lower()}")
            thing = self._evaluator.evaluate(value) if value is not None else None
            if thing is not None and thing.text == _OBJECT and thing.made_by is not None:
                fields = self._arguments.value(thing.made_by, "arg0.fields")
                yield from self._fields(fields, method) if fields is not None else ()

    # Python

    def _of_classes(self, call: Located) -> Iterator[_Operation]:
        for name, method in _METHODS.items():
            value = self._arguments.value(call, f"kw.{name.lower()}")
            thing = self._evaluator.evaluate(value) if value is not None else None
            if thing is not None and thing.kind is ThingKind.DEFINITION:
                yield from self._of_class(thing, method)

    def _of_class(self, thing: Thing, method: str) -> Iterator[_Operation]:
        for one in ancestry(self._evaluator, thing.target[0]):
            if isinstance(one, str):
                continue
            first, last = self._evaluator.byte_span(one.path, self._code.definition(one).span)
            for site in self._evaluator.sites(one.path).within(first, last):
                place = self._field_place(one, site)
                if place is not None:
                    name = _camel(self._code.definition(place).name)
                    resolver = self._field_resolver(one, place)
                    yield _Operation(method, name, one.path, site.start, resolver)

    def _field_place(self, place: Place, site: Site) -> Place | None:
        """The method or attribute of a class that a site makes a field of its type."""
        facts = self._code.require_facts(place.path)
        if site.kind is SiteKind.DECORATOR:
            target = self._evaluator.decorated_by(place.path, site)
            name = self._evaluator.full_name(place.path, site.value)
            is_field = target is not None and facts.definitions[target.definition].parent == place.definition
            return target if is_field and name in _STRAWBERRY else None
        if site.kind is not SiteKind.CALL or not site.name or site.outer >= 0:
            return None
        thing = self._evaluator.evaluate(Located(place.path, site.value))
        if not thing.text.startswith(("graphene.", "strawberry.")):
            return None
        for number, item in enumerate(facts.definitions):
            if item.name == site.name and item.parent == place.definition:
                return Place(place.path, number)
        return None

    def _field_resolver(self, owner: Place, place: Place) -> Place:
        """`resolve_x` for a field x of graphene; anything else resolves itself."""
        method = self._handlers.method_of(owner, f"resolve_{self._code.definition(place).name}")
        return method or place

    def _of_field(self, path: RepoPath, site: Site) -> Iterator[_Operation]:
        """`@query.field("users")` with `query = QueryType()`."""
        receiver = site.value.receiver
        owner = self._evaluator.evaluate(Located(path, receiver)) if receiver is not None else None
        method = _ARIADNE.get(owner.text) if owner is not None else None
        if method is None:
            return
        for text in self._arguments.texts(Located(path, site.value), "arg0") or ():
            yield _Operation(method, text, path, site.start, self._evaluator.decorated_by(path, site))


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)
