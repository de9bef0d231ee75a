"""Routes, components and services of Angular, and where components navigate to."""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.facts import Reason
from codeplane.languages.sites import SPREAD, SiteKind, Value, ValueKind
from codeplane.names import Codebase
from codeplane.names.meaning import UNRESOLVED
from codeplane.surfaces.arguments import Arguments
from codeplane.surfaces.fact_graph import FactGraph, SurfaceFact
from codeplane.surfaces.kinds import ancestry
from codeplane.surfaces.markers import Marked, Markers
from codeplane.surfaces.routes import joined_parts
from codeplane.surfaces.scripts import ScriptEvaluator
from codeplane.surfaces.values import Located, Thing, ThingKind

_COMPONENT: Final = "@angular/core.Component"
_INJECTABLE: Final = "@angular/core.Injectable"
_MODULE: Final = "@angular/core.NgModule"
_INJECT: Final = "@angular/core.inject"
_ROUTER: Final = "@angular/router.Router"
_HTTP: Final = "@angular/common/http.HttpClient"
_PARTS: Final = frozenset({"core", "router"})
_ROOTS: Final = frozenset({"@angular/router.RouterModule.forRoot", "@angular/router.provideRouter"})
_CHILDREN: Final = frozenset({"@angular/router.RouterModule.forChild"})
_VERBS: Final = frozenset({"get", "post", "put", "patch", "delete", "head", "options", "request", "jsonp"})
_NAVIGATIONS: Final = frozenset({"navigate", "navigateByUrl"})
_LINK: Final = re.compile(r"""(\[)?routerLink\]?\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_TEXT: Final = re.compile(r"""^\s*(["'`])(.*)\1\s*$""", re.DOTALL)
_HOLE: Final = "\0"
_DEEPEST: Final = 10


class Remote(NamedTuple):
    """What a route loads from another application."""

    name: str
    module: str
    member: str
    entry: str
    at: Located


class AngularRoute(NamedTuple):
    """A route with its whole path, and the class that it shows or the remote that it loads."""

    text: str
    fact: SurfaceFact
    component: Place | None = None
    remote: Remote | None = None


def angular_paths(code: Codebase) -> set[RepoPath]:
    """The files that import from Angular."""
    return {
        path
        for path in code.importing(_PARTS)
        if (facts := code.facts(path)) is not None
        and any(item.module.startswith("@angular/") for item in facts.imports)
    }


class AngularCode:
    """The Angular code of one state."""

    def __init__(self, evaluator: ScriptEvaluator, graph: FactGraph) -> None:
        self.evaluator, self.graph = evaluator, graph
        self.code, self.arguments = evaluator.code, Arguments(evaluator)
        tests = self.code.tests()
        self.paths = {path for path in angular_paths(self.code) if path not in tests}
        self.markers = Markers(evaluator, self.paths)
        self.routes: list[AngularRoute] = []

    @cached_property
    def components(self) -> dict[Place, Marked]:
        """The components by their classes."""
        return {mark.place: mark for mark in self.markers.of(_COMPONENT)}

    @cached_property
    def _modules(self) -> dict[Place, Marked]:
        return {mark.place: mark for mark in self.markers.of(_MODULE)}

    @cached_property
    def _services(self) -> set[Place]:
        return {mark.place for mark in self.markers.of(_INJECTABLE)}

    def read(self) -> None:
        """Reads routes, and ties each to its component, the component to its services."""
        for path in sorted(self.paths):
            for site in self.evaluator.sites(path).sites:
                if site.kind is SiteKind.CALL and site.value.text in ("forRoot", "provideRouter"):
                    call = Located(path, site.value)
                    table = self.arguments.value(call, "arg0")
                    if table is not None and self.evaluator.evaluate(call).text in _ROOTS:
                        self.routes += self.routes_in(table, "", ())
        for route in self.routes:
            self.graph.add(route.fact)
            if route.component is not None:
                component = self.component_fact(route.component)
                self.graph.connect(route.fact, "ACTIVATES", component)
                self._tie_services(route.component, component)

    # Routes

    def routes_in(self, table: Located, prefix: str, within: tuple[Place, ...]) -> Iterator[AngularRoute]:
        """The routes of a list, of their children, and of what they load."""
        if len(within) > _DEEPEST:
            return
        for item in self.flat(table):
            thing = self.evaluator.evaluate(item)
            made_by = thing.made_by
            if thing.kind is not ThingKind.LITERAL or made_by is None:
                continue
            path = self.evaluator.mapping_item(made_by, "path")
            text = self.evaluator.text(path) if path is not None else ""
            if text is None:
                continue
            whole = joined_parts(prefix, text)
            yield from self._route(made_by, whole, within)

    def _route(self, mapping: Located, whole: str, within: tuple[Place, ...]) -> Iterator[AngularRoute]:
        line = self.evaluator.line_of(mapping.path, mapping.value.start)
        fact = SurfaceFact("Route", whole, mapping.path, line)
        parts = {
            name: self.evaluator.mapping_item(mapping, name)
            for name in ("component", "loadComponent", "loadChildren", "children")
        }
        component = self._class_of(parts["component"]) or self._loaded_class(parts["loadComponent"])
        source = parts["loadChildren"] or parts["loadComponent"]
        remote = self._remote(source) if source is not None and component is None else None
        yield AngularRoute(whole, fact, component, remote)
        if parts["children"] is not None:
            yield from self.routes_in(parts["children"], whole, within)
        if parts["loadChildren"] is not None:
            for result in self._returned(parts["loadChildren"]):
                yield from self.routes_of(self.evaluator.evaluate(result), whole, within)

    def routes_of(self, thing: Thing, prefix: str, within: tuple[Place, ...]) -> Iterator[AngularRoute]:
        """The routes of a module, or of a list of routes."""
        thing = self.evaluator.default_of(thing)
        if thing.kind is ThingKind.LITERAL and thing.made_by is not None:
            yield from self.routes_in(thing.made_by, prefix, within)
        if thing.kind is not ThingKind.DEFINITION or thing.target[0] in within:
            return
        place = thing.target[0]
        module = self._modules.get(place)
        imports = self.arguments.value(module.call, "arg0.imports") if module is not None else None
        for item in self.flat(imports) if imports is not None else ():
            inner = self.evaluator.evaluate(item)
            if inner.text in _CHILDREN and inner.made_by is not None:
                table = self.arguments.value(inner.made_by, "arg0")
                if table is not None:
                    yield from self.routes_in(table, prefix, (*within, place))
            elif inner.kind is ThingKind.DEFINITION:
                yield from self.routes_of(inner, prefix, (*within, place))

    def flat(self, located: Located, depth: int = 0) -> Iterator[Located]:
        """The items of a list and of the lists that it spreads."""
        items = self.evaluator.items(located)
        if items is not None:
            yield from items
            return
        for item in located.value.items if located.value.kind is ValueKind.LIST and depth < 4 else ():
            if item.kind is not ValueKind.CALL or item.text != SPREAD:
                yield located._replace(value=item)

    def _class_of(self, located: Located | None) -> Place | None:
        thing = self.evaluator.evaluate(located) if located is not None else None
        return thing.target[0] if thing is not None and thing.kind is ThingKind.DEFINITION else None

    def _returned(self, located: Located) -> list[Located]:
        """What a function gives that loads something."""
        ref = self.evaluator.function_of(self.evaluator.evaluate(located))
        return self.evaluator.returned_by(ref, located) if ref is not None else []

    def _loaded_class(self, located: Located | None) -> Place | None:
        for result in self._returned(located) if located is not None else ():
            thing = self.evaluator.default_of(self.evaluator.evaluate(result))
            if thing.kind is ThingKind.DEFINITION:
                return thing.target[0]
        return None

    def _remote(self, located: Located) -> Remote | None:
        """`loadRemoteModule(…).then(m => m.X)` or `import("remote/Module")`."""
        for result in self._returned(located):
            call, member = result, ""
            while call.value.kind is ValueKind.CALL and call.value.text in ("then", "catch"):
                if call.value.text == "then":
                    member = self._member_name(call)
                receiver = call.value.receiver
                if receiver is None:
                    return None
                call = call._replace(value=receiver)
            remote = self._called_remote(call, member)
            if remote is not None:
                return remote
        return None

    def _member_name(self, call: Located) -> str:
        handler = self.arguments.value(call, "arg0")
        ref = self.evaluator.function_of(self.evaluator.evaluate(handler)) if handler is not None else None
        for result in self.evaluator.returned_by(ref, call) if ref is not None else ():
            if result.value.kind in (ValueKind.NAME, ValueKind.MEMBER):
                return result.value.text.rpartition(".")[2]
        return ""

    def _called_remote(self, call: Located, member: str) -> Remote | None:
        value = call.value
        first = self.arguments.value(call, "arg0")
        if value.kind is not ValueKind.CALL or first is None:
            return None
        if value.text == "loadRemoteModule" or value.text == "loadRemote":
            texts = {
                name: self.evaluator.text(item) or ""
                for name in ("remoteName", "exposedModule", "remoteEntry")
                if (item := self.arguments.value(call, f"arg0.{name}")) is not None
            }
            if texts:
                name, key = texts.get("remoteName", ""), texts.get("exposedModule", "")
                return Remote(name, key, member, texts.get("remoteEntry", ""), call)
            second = self.arguments.value(call, "arg1")
            name = self.evaluator.text(first) or ""
            key = self.evaluator.text(second) or "" if second is not None else ""
            if not key and "/" in name:
                name, _, key = name.partition("/")
            return Remote(name, key, member, "", call) if name else None
        text = self.evaluator.text(first) if value.text == "" else None
        if text and not text.startswith((".", "/")) and "/" in text and not text.startswith("@"):
            name, _, key = text.partition("/")
            return Remote(name, key, member, "", call)
        return None

    # Classes

    def component_fact(self, place: Place, kind: str = "Component") -> SurfaceFact:
        definition = self.code.definition(place)
        return SurfaceFact(kind, definition.name, place.path, definition.name_line, definition.name)

    def instance(self, place: Place) -> Thing:
        return Thing(ThingKind.OBJECT, target=(place,))

    def injected(self, thing: Thing) -> Thing:
        """What `inject(X)` gives: an instance of X."""
        if thing.kind is ThingKind.OBJECT and thing.text == _INJECT and thing.made_by is not None:
            token = self.arguments.value(thing.made_by, "arg0")
            inner = self.evaluator.evaluate(token) if token is not None else thing
            if inner.kind is ThingKind.DEFINITION:
                return self.instance(inner.target[0])
            return Thing(ThingKind.OBJECT, inner.text)
        return thing

    def _tie_services(self, place: Place, component: SurfaceFact) -> None:
        for service in self._services_of(place):
            fact = self.component_fact(service, "Service")
            self.graph.connect(component, "USES", fact)
            for definition in self._definitions_of(service):
                self.graph.connect(fact, "DEFINED_BY", definition)

    def _services_of(self, place: Place) -> list[Place]:
        """The services that a class gets: by its constructor, or by `inject`."""
        services: dict[Place, None] = {}
        for one in ancestry(self.evaluator, place):
            if not isinstance(one, Place) or not self.evaluator.speaks(one.path):
                continue
            facts = self.code.require_facts(one.path)
            constructor = self.evaluator.constructor_of(self.instance(one))
            for bind in facts.binds if constructor is not None and constructor.path == one.path else ():
                if bind.scope == (constructor.scope if constructor else -1) and bind.reason is Reason.PARAM:
                    thing = self.evaluator.declared_instance(one.path, bind)
                    if thing.target != UNRESOLVED:
                        services[thing.target[0]] = None
            first, last = self.evaluator.byte_span(one.path, self.code.definition(one).span)
            for site in self.evaluator.sites(one.path).within(first, last):
                if site.kind is SiteKind.CALL and site.value.text == "inject":
                    thing = self.injected(self.evaluator.evaluate(Located(one.path, site.value)))
                    if thing.target != UNRESOLVED:
                        services[thing.target[0]] = None
        return [one for one in services if one in self._services]

    def _definitions_of(self, service: Place) -> list[SurfaceFact]:
        """The methods of a service that ask a server; else all of its methods; else the service itself."""
        methods = dict.fromkeys(self._methods_of(service))
        asking = {method: line for method in methods for line, value in self._http_calls(method)}
        if asking:
            return [
                self._method_fact(service, method, asking[method]) for method in methods if method in asking
            ]
        if methods:
            lines = {method: self.code.definition(method).name_line for method in methods}
            return [self._method_fact(service, method, lines[method]) for method in methods]
        return [self.component_fact(service, "Definition")]

    def _method_fact(self, service: Place, method: Place, line: int) -> SurfaceFact:
        name = f"{self.code.definition(service).name}.{self.code.definition(method).name}"
        return SurfaceFact("Definition", name, method.path, line, name)

    def _methods_of(self, service: Place) -> Iterator[Place]:
        for one in ancestry(self.evaluator, service):
            if isinstance(one, Place):
                for number, item in enumerate(self.code.require_facts(one.path).definitions):
                    if item.parent == one.definition and item.kind == "method":
                        yield Place(one.path, number)

    def _http_calls(self, method: Place) -> Iterator[tuple[int, Value]]:
        first, last = self.evaluator.byte_span(method.path, self.code.definition(method).span)
        for site in self.evaluator.sites(method.path).within(first, last):
            receiver = site.value.receiver
            if site.kind is not SiteKind.CALL or receiver is None or site.value.text not in _VERBS:
                continue
            owner = self.injected(self.evaluator.evaluate(Located(method.path, receiver)))
            if owner.text == _HTTP:
                yield self.evaluator.line_of(method.path, site.start), site.value

    # Templates

    def template_of(self, place: Place) -> tuple[RepoPath, str, int] | None:
        """The template of a component: its file, its text, and the line before it."""
        mark = self.components.get(place)
        if mark is None:
            return None
        inline = self.arguments.value(mark.call, "arg0.template")
        text = self.evaluator.text(inline) if inline is not None else None
        if inline is not None and text is not None:
            return inline.path, text, self.evaluator.line_of(inline.path, inline.value.start) - 1
        address = self.arguments.value(mark.call, "arg0.templateUrl")
        name = self.evaluator.text(address) if address is not None else None
        if name is None or address is None:
            return None
        path = beside(address.path, name)
        if not self.code.exists(path):
            return None
        return RepoPath(path), self.code.source(RepoPath(path)).decode("utf-8", "replace"), 0

    # Navigation

    def navigations(self, place: Place) -> Iterator[SurfaceFact]:
        """Where a component leads to, each tied to the routes that it may be."""
        definition = self.code.definition(place)
        first, last = self.evaluator.byte_span(place.path, definition.span)
        for site in self.evaluator.sites(place.path).within(first, last):
            receiver, address = site.value.receiver, site.value.argument(0)
            if site.kind is not SiteKind.CALL or site.value.text not in _NAVIGATIONS:
                continue
            if receiver is None or address is None:
                continue
            owner = self.injected(self.evaluator.evaluate(Located(place.path, receiver)))
            if owner.text == _ROUTER:
                line = self.evaluator.line_of(place.path, site.start)
                text = self._address(Located(place.path, address))
                yield from self._tied(text, place.path, line, definition.name)
        template = self.template_of(place)
        if template is not None:
            path, source, before = template
            for match in _LINK.finditer(source):
                line = before + source.count("\n", 0, match.start()) + 1
                text = match[2] or match[3] or ""
                yield from self._tied(_link_address(text, is_bound=bool(match[1])), path, line, "")

    def _address(self, located: Located) -> str:
        """An address with a mark where something is only known at run time."""
        path, value, environment = located
        if value.kind is ValueKind.LIST:
            parts = [self._address(Located(path, item, environment)) for item in value.items]
            return "/".join(part.strip("/") for part in parts)
        if value.kind is ValueKind.CONCAT:
            return "".join(self._address(Located(path, item, environment)) for item in value.items)
        text = self.evaluator.text(located)
        return text if text is not None else _HOLE

    def _tied(self, address: str, path: RepoPath, line: int, symbol: str) -> Iterator[SurfaceFact]:
        routes = [route for route in self.routes if leads_to(address, route.text)]
        if address.strip("/\0") or routes:
            fact = SurfaceFact("NavTrigger", joined_parts(address.replace(_HOLE, ":?")), path, line, symbol)
            for route in routes:
                self.graph.connect(fact, "NAVIGATES_TO", route.fact)
            yield fact


def leads_to(address: str, route: str) -> bool:
    """Whether an address is one of a route: parameters take anything, others are what they are."""
    there = [part for part in address.partition("?")[0].partition("#")[0].split("/") if part]
    parts = [part for part in route.split("/") if part]
    if len(there) != len(parts):
        return False
    return all(part.startswith(":") or part == other for part, other in zip(parts, there, strict=True))


def beside(path: str, text: str) -> str:
    """A path that is text in a file, seen from the root."""
    parts = path.split("/")[:-1]
    for part in text.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _link_address(text: str, *, is_bound: bool) -> str:
    if not is_bound:
        return re.sub(r"\{\{.*?\}\}", _HOLE, text)
    inner = text.strip()
    items = inner[1:-1].split(",") if inner.startswith("[") else [inner]
    parts = []
    for item in items:
        literal = _TEXT.match(item)
        parts.append(re.sub(r"\$\{.*?\}", _HOLE, literal[2]).strip("/") if literal else _HOLE)
    return "/".join(parts)
