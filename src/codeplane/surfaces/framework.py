"""Routes and mounts of one framework, read from the sites of the files that use it."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple, TypeVar

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.sites import Site, SiteKind, Value, ValueKind
from codeplane.names.meaning import UNRESOLVED
from codeplane.surfaces.arguments import Arguments
from codeplane.surfaces.call_environments import CallEnvironments
from codeplane.surfaces.composition import Composition
from codeplane.surfaces.controllers import Controllers
from codeplane.surfaces.expanders import GraphqlSchema, NestModules, drf_viewset, fastify_autoload
from codeplane.surfaces.external_names import external_name
from codeplane.surfaces.file_routes import file_endpoints
from codeplane.surfaces.handlers import Handler, Handlers
from codeplane.surfaces.kinds import Kinds, Typed
from codeplane.surfaces.routes import Collected, Endpoint, Mount, Route, Step, spelled_pattern
from codeplane.surfaces.rule import MountRule, RouteRule, Rule, words_of
from codeplane.surfaces.running import Entry, ScriptRun
from codeplane.surfaces.script_values import SCRIPTS
from codeplane.surfaces.scripts import ScriptEvaluator
from codeplane.surfaces.started import started_files
from codeplane.surfaces.tables import TableOwner, Tables
from codeplane.surfaces.values import UNKNOWN, Environment, Evaluator, Located, Origin, Thing, ThingKind

R = TypeVar("R")
_MOST_DERIVED: Final = 3  # classes derived from each other
_MOST_SCRIPTS: Final = 3_000  # that are followed without a word of the framework in them


class Handed(NamedTuple):
    """An object that a framework makes below another one and hands to a function."""

    owner: Typed
    kind: str
    prefix: str | None
    marks: tuple[Origin, ...] = ()


class Framework:
    """The endpoints of one framework."""

    def __init__(self, evaluator: Evaluator, rule: Rule) -> None:
        self._evaluator, self._rule = evaluator, rule
        self._code, self._arguments = evaluator.code, Arguments(evaluator)
        self._collected = Collected()
        self._paths: set[RepoPath] = set()
        self._entered: Environment | None = None  # what names stand for at the site of a script that is read
        self._makers_of: dict[RepoPath, set[str]] = {}
        self._words = words_of(rule) | {
            name for kind in rule.types.values() for name in (*kind.derives, *kind.prefix_by)
        }
        self._kinds, self._handlers = Kinds(evaluator, rule), Handlers(evaluator, rule)
        self._tables = Tables(evaluator, rule, self._kinds, self._handlers, self._collected)
        self._route_rules = _by_name([(one, one.decorator, one.call) for one in rule.routes])
        self._mount_rules = _by_name([(one, (), one.call) for one in rule.mounts])
        self._table_rules = _by_name([(one, (), one.call) for one in rule.tables])
        self._makers = {
            name.rpartition(".")[2]
            for kind in rule.types.values()
            if kind.table or kind.inner or kind.parent
            for name in kind.new
        }

    @property
    def dynamic(self) -> dict[RepoPath, int]:
        """How many routes of each file have a path that is only known at run time."""
        return self._collected.dynamic

    def endpoints(self) -> list[Endpoint]:
        """Every endpoint of the framework."""
        if self._rule.files and isinstance(self._evaluator, ScriptEvaluator):
            return list(file_endpoints(self._evaluator, self._rule))
        paths = self._paths = self.candidates()
        if not paths:
            return []
        scripts = {path for path in paths if self._is_script(path)}
        if scripts and words_of(self._rule) and isinstance(self._evaluator, ScriptEvaluator):
            ScriptRun(
                self._evaluator,
                scripts,
                self._meet,
                lambda located: self._kinds.typed_object(located) is not None,
                list(self._started_entries(self._evaluator)),
            ).run()
        for path in sorted(paths - scripts):
            self._read(path)
            self._tables.read_module(path)
        self._tables.find_roots()
        composition = Composition(self._evaluator, self._rule, self._collected, self._tables.roots)
        controllers = Controllers(self._evaluator, self._rule, self.dynamic)
        endpoints = [one for route in self._collected.routes for one in composition.endpoints(route)]
        endpoints += self._expanded(paths, scripts)
        return endpoints + list(controllers.endpoints(paths))

    def _expanded(self, paths: set[RepoPath], scripts: set[RepoPath]) -> list[Endpoint]:
        """The endpoints that an expander of the whole rule makes."""
        evaluator = self._evaluator
        if not isinstance(evaluator, ScriptEvaluator):
            return []
        match self._rule.expand:
            case "nest_modules":
                modules = NestModules(evaluator, self._rule.framework, scripts, self.dynamic)
                return list(modules.endpoints())
            case "graphql_schema":
                return list(GraphqlSchema(evaluator, self._rule, paths, self.dynamic).endpoints())
            case _:
                return []

    def _is_script(self, path: RepoPath) -> bool:
        facts = self._code.facts(path)
        return facts is not None and facts.language in SCRIPTS

    def _meet(self, path: RepoPath, site: Site, environment: Environment) -> list[Entry]:
        """Reads a call of a script where its names stand for something; gives the functions to enter."""
        name, value = site.value.text, site.value
        makers = self._local_makers(path)
        if name not in self._words and name not in makers:
            return []
        self._entered, self._collected.site = environment, (path, site.start)
        try:
            if name in makers:
                self._read_object(path, site)
            if value.receiver is None:
                return []
            self._read_call(path, site)
            call = Located(path, value, environment)
            self._read_prefix(call)
            for owner in self._derived_from(call):
                self._add_derived(site, call, owner)
            return [
                entry
                for rule in self._mount_rules[1].get(name, ())
                if rule.enters
                for entry in self._entries(site, call, rule)
            ]
        finally:
            self._entered, self._collected.site = None, None

    def _started_entries(self, evaluator: ScriptEvaluator) -> Iterator[Entry]:
        """The functions that a command hands an application."""
        rule = self._rule.started
        for path in sorted(set(started_files(self._code, rule.command))) if rule is not None else ():
            module = Thing(ThingKind.MODULE, target=(Place(path, -1),))
            ref = evaluator.function_of(evaluator.default_of(module))
            if ref is not None and rule is not None:
                origin = Origin(path, -1)
                yield Entry(ref, Thing(ThingKind.OBJECT, f"<{rule.kind}>", origin=origin))

    def _local_makers(self, path: RepoPath) -> set[str]:
        """What a file calls the functions that make an object with something in it."""
        makers = self._makers_of.get(path)
        if makers is None:
            imports = self._code.require_facts(path).imports
            full = {
                name for kind in self._rule.types.values() if kind.inner or kind.table for name in kind.new
            }
            aliases = {
                item.alias for item in imports if item.name in self._makers or external_name(item) in full
            }
            makers = self._makers_of[path] = self._makers | aliases
        return makers

    def _derived_from(self, call: Located) -> Iterator[Typed]:
        """The object that a method makes another one below of: `app.basePath("/v1")`."""
        receiver = call.value.receiver
        assert receiver is not None, "BUG: checked before"
        if any(call.value.text in kind.derives for kind in self._rule.types.values()):
            owner = self._kinds.typed_object(call._replace(value=receiver))
            if owner is not None and call.value.text in self._rule.types[owner.kind].derives:
                yield owner

    def _read_prefix(self, call: Located) -> None:
        """The prefix that a method gives an object: `router.prefix("/v1")`."""
        receiver = call.value.receiver
        if receiver is None or not any(call.value.text in one.prefix_by for one in self._rule.types.values()):
            return
        owner = self._kinds.typed_object(call._replace(value=receiver))
        texts = self._arguments.texts(call, "arg0")
        if (
            owner is None
            or owner.thing.origin is None
            or call.value.text not in self._rule.types[owner.kind].prefix_by
        ):
            return
        self._collected.prefixes[owner.thing.origin[:2]] = texts[0] if texts and len(texts) == 1 else None

    def _add_derived(self, site: Site, call: Located, owner: Typed) -> None:
        prefix = self._rule.types[owner.kind].derives[call.value.text].prefix
        texts = self._arguments.texts(call, prefix) if prefix else [""]
        child = self._kinds.typed_object(call)
        if texts is None or child is None:
            self._hide(child.thing if child is not None else UNKNOWN)
            return
        is_conditional = site.is_conditional or call.environment.is_conditional
        for text in texts:
            step = Step(call.path, 0, text)
            self._collected.mounts.append(Mount(*owner, child.thing, text, False, step, is_conditional))

    def _entries(self, site: Site, call: Located, rule: MountRule) -> Iterator[Entry]:
        """The function that is handed an object below the one that a method is called on."""
        evaluator, receiver = self._evaluator, call.value.receiver
        child = self._arguments.value(call, rule.child)
        if receiver is None or child is None or not isinstance(evaluator, ScriptEvaluator):
            return
        owner = self._kinds.typed_object(call._replace(value=receiver))
        if owner is None or owner.kind not in rule.owner:
            return
        thing = evaluator.default_of(evaluator.evaluate(child))
        if thing.kind is ThingKind.EXTERNAL and thing.text in self._rule.folders:
            yield from self._folder_entries(site, call, rule, owner)
            return
        texts = self._arguments.texts(call, rule.prefix) if rule.prefix else [""]
        for text in texts if texts is not None else [None]:
            yield from self._entry(thing, site, call, Handed(owner, rule.enters, text))

    def _folder_entries(self, site: Site, call: Located, rule: MountRule, owner: Typed) -> Iterator[Entry]:
        """The functions that every file of a folder exports."""
        evaluator = self._evaluator
        assert isinstance(evaluator, ScriptEvaluator), "BUG: asked for before"
        plugins = fastify_autoload(evaluator, call)
        if plugins is None:
            self._collected.count_dynamic(call.path)
        for plugin in plugins or ():
            module = Thing(ThingKind.MODULE, target=(Place(plugin.path, -1),))
            hand = Handed(owner, rule.enters, plugin.prefix, (Origin(plugin.path, 0),))
            yield from self._entry(evaluator.default_of(module), site, call, hand)

    def _entry(self, thing: Thing, site: Site, call: Located, hand: Handed) -> Iterator[Entry]:
        """A function with the object that it is handed: one below, or the owner itself."""
        evaluator = self._evaluator
        assert isinstance(evaluator, ScriptEvaluator), "BUG: asked for before"
        is_wrapped = thing.kind is ThingKind.OBJECT and thing.text in self._rule.transparent
        if is_wrapped and thing.made_by is not None:
            inner = self._arguments.value(thing.made_by, "arg0")
            thing = evaluator.default_of(evaluator.evaluate(inner)) if inner is not None else thing
        ref = evaluator.function_of(thing)
        if ref is None:
            return
        if is_wrapped:
            yield Entry(ref, hand.owner.thing)
            return
        origin = Origin(call.path, call.value.start, (*call.environment.calls, *hand.marks))
        below = Thing(ThingKind.OBJECT, f"<{hand.kind}>", origin=origin)
        if hand.prefix is None:
            self._hide(below)
            yield Entry(ref, below)
            return
        is_conditional = site.is_conditional or call.environment.is_conditional
        step = Step(call.path, evaluator.line_of(call.path, site.start), hand.prefix)
        self._collected.mounts.append(Mount(*hand.owner, below, hand.prefix, False, step, is_conditional))
        yield Entry(ref, below)

    def importing_files(self) -> set[RepoPath]:
        """The files that import the framework."""
        heads = {
            name.replace("/", ".").split(".")[0] if not name.startswith("@") else name
            for name in self._rule.imports
        }
        heads |= {part for name in self._rule.imports for part in name.split("/")[-1:]}
        return {path for path in self._code.importing(heads) if self._imports(path)}

    def candidates(self) -> set[RepoPath]:
        """The files that import the framework, and those that import from them and use its words."""
        direct = self.importing_files()
        if not direct or (not words_of(self._rule) and not self._rule.expand):
            return direct
        users = set(direct)
        words = self._code.paths_with_any(sorted(words_of(self._rule)))
        for _ in range(2):
            stems = {RepoPath(path).rpartition("/")[2].rpartition(".")[0] for path in users}
            stems |= {path.split("/")[-2] for path in users if "/" in path}
            importing = self._code.importing(stems)
            scripts = importing if len(importing) < _MOST_SCRIPTS else set()
            users |= (importing & words) | {path for path in scripts if self._is_script(path)}
        return {path for path in users if self._speaks(path)}

    def _imports(self, path: RepoPath) -> bool:
        facts = self._code.facts(path)
        if facts is None or facts.language not in self._rule.languages:
            return False
        return any(
            item.module == name
            or item.module.startswith((f"{name}.", f"{name}/"))
            or f"{item.module}.{item.name}".startswith(name)
            for item in facts.imports
            for name in self._rule.imports
        )

    def _speaks(self, path: RepoPath) -> bool:
        facts = self._code.facts(path)
        return facts is not None and facts.language in self._rule.languages

    def _read(self, path: RepoPath) -> None:
        facts = self._code.require_facts(path)
        known = self._makers | self._own_makers
        makers = known | {item.alias for item in facts.imports if item.name in known}
        for site in self._evaluator.sites(path).sites:
            name = site.value.text
            if site.value.kind is not ValueKind.CALL:
                continue
            if site.kind is SiteKind.DECORATOR or not self._is_decorator(path, site):
                self._count_handed_methods(path, site)
            if site.kind is SiteKind.CALL and (name in makers or name == "__init__"):
                self._read_object(path, site)
            if site.value.receiver is None:
                continue
            if site.kind is SiteKind.DECORATOR:
                for rule in self._route_rules[0].get(name, ()):
                    self._add_route(path, site, rule)
            elif site.kind is SiteKind.CALL and not self._is_decorator(path, site):
                self._read_call(path, site)

    @cached_property
    def _own_makers(self) -> set[str]:
        """The classes here that are derived from those that make an object with something in it."""
        names: set[str] = set()
        for _ in range(_MOST_DERIVED):
            known = self._makers | names
            found = {
                site.name
                for path in self._paths
                for site in self._evaluator.sites(path).sites
                if site.kind is SiteKind.CLASS
                and any(base.text.rpartition(".")[2] in known for base in site.value.items)
            }
            if found <= names:
                break
            names |= found
        return names

    def _count_handed_methods(self, path: RepoPath, site: Site) -> None:
        """`wrap("/x", method=router.get)`: a route of a function that nothing is known about."""
        for item in site.value.arguments:
            owner, _, name = item.text.rpartition(".")
            if item.kind is not ValueKind.NAME or not owner or name not in self._route_rules[0]:
                continue
            if self._kinds.typed_object(Located(path, Value(ValueKind.NAME, owner, item.start))):
                self._collected.count_dynamic(path)

    def _read_call(self, path: RepoPath, site: Site) -> None:
        name = site.value.text
        for rule in self._route_rules[1].get(name, ()):
            self._add_route(path, site, rule)
        for mount in self._mount_rules[1].get(name, ()):
            self._add_mounts(path, site, mount)
        for table in self._table_rules[1].get(name, ()):
            for call, owner in self._owners(path, site, table.owner):
                value = self._arguments.value(call, table.table)
                if value is not None:
                    self._tables.read_table(TableOwner(owner, site.is_conditional), value)

    def _read_object(self, path: RepoPath, site: Site) -> None:
        """An object with a list of its routes; `super().__init__(routes)` makes one of the class around."""
        call = Located(path, site.value)
        if site.value.text == "__init__":
            method = self._evaluator.definition_around(path, site.start)
            parent = self._code.definition(method).item.parent if method is not None else -1
            receiver = site.value.receiver
            if parent < 0 or receiver is None or receiver.text != "super":
                return
            origin = Origin(path, site.start)
            thing = Thing(ThingKind.OBJECT, target=(Place(path, parent),), origin=origin, made_by=call)
            things = [thing]
        else:
            things = [self._evaluator.evaluate(call)]
            ways = self._ways.of_arguments(path, site.value) if self._entered is None else []
            if ways and self._kinds.type_of(things[0]) is not None:
                things = [self._evaluator.evaluate(call._replace(environment=one)) for one in ways]
        for thing in things:
            kind = self._kinds.type_of(thing)
            if kind is not None:
                self._tables.read_object(Typed(thing, kind))

    def _is_decorator(self, path: RepoPath, site: Site) -> bool:
        sites = self._evaluator.sites(path).sites
        return site.outer >= 0 and sites[site.outer].kind is SiteKind.DECORATOR

    def _owners(
        self, path: RepoPath, site: Site, kinds: Sequence[str], receiver: Value | None = None
    ) -> Iterator[tuple[Located, Typed]]:
        """The objects of some kinds that a method is called on: one for each round of a loop."""
        receiver = receiver or site.value.receiver
        assert receiver is not None, "BUG: checked before"
        is_super = receiver.kind is ValueKind.CALL and receiver.text == "super" and receiver.receiver is None
        if is_super and self._entered is None:
            receiver = Value(ValueKind.NAME, "self", receiver.start)
        for environment in self._environments(path, site, receiver):
            owner = self._kinds.typed_object(Located(path, receiver, environment))
            if owner is None or owner.kind not in kinds:
                continue
            own = owner.thing.target[0] if owner.thing.target != UNRESOLVED else None
            if is_super or own is None or not self._is_replaced(own, site.value.text):
                if self._entered is None:
                    at = environment.stands_at
                    self._collected.site = (at[0], at[1].start) if at is not None else None
                yield Located(path, site.value, environment), owner

    def _is_replaced(self, owner: Place, name: str) -> bool:
        return self._entered is None and self._ways.is_replaced(owner, name)

    def _add_route(self, path: RepoPath, site: Site, rule: RouteRule) -> None:
        receiver, path_call = site.value.receiver, site.value
        assert receiver is not None, "BUG: checked before"
        if rule.chain:
            link = _chain_link(receiver, rule.chain)
            if link is None:
                return
            path_call, receiver = link, link.receiver or receiver
        elif rule.handler == "last" and rule.path and len(site.value.arguments) < 2:
            return  # `app.get("name")` asks for a setting
        for call, owner in self._owners(path, site, rule.owner, receiver):
            self._add_resolved(site, rule, call, call._replace(value=path_call), owner)

    def _add_resolved(
        self, site: Site, rule: RouteRule, call: Located, path_call: Located, owner: Typed
    ) -> None:
        path = call.path
        texts = self._arguments.texts(path_call, rule.path)
        methods = self._methods(call, rule)
        is_hidden = any(
            selector.startswith("arg0.") and self._arguments.value(call, selector) is None
            for selector in (rule.path, rule.method)
        )
        if texts is None or methods is None or is_hidden:
            self._collected.count_dynamic(path)
            return
        at, line = self._place_of(path, site, call)
        handlers = self._handlers_of(path, site, rule, call)
        for text in texts:
            if rule.expand:
                self._expand(site, call, owner, handlers, text)
                continue
            for handler in handlers:
                verbs = methods or handler.methods or (self._rule.default_method,)
                is_conditional = site.is_conditional or call.environment.is_conditional
                self._collected.routes.append(
                    Route(*owner, verbs, text, at, line, handler.place, handler.line, is_conditional)
                )

    def _place_of(self, path: RepoPath, site: Site, call: Located) -> tuple[RepoPath, int]:
        """Where a route or mount is written: at the call of the method that adds it, where one does."""
        path, site = call.environment.stands_at or (path, site)
        return path, self._evaluator.line_of(path, site.start)

    def _expand(
        self, site: Site, call: Located, owner: Typed, handlers: Sequence[Handler], text: str
    ) -> None:
        place = handlers[0].place if handlers else None
        if place is None:
            self._collected.count_dynamic(call.path)
            return
        while self._code.definition_kind(place) != "class":
            place = Place(place.path, self._code.definition(place).item.parent)
        line = self._evaluator.line_of(call.path, site.start)
        prefix = spelled_pattern(text)
        for one in drf_viewset(self._evaluator, self._handlers, owner.thing, place, prefix):
            self._collected.routes.append(
                Route(
                    *owner,
                    (one.method,),
                    one.suffix,
                    call.path,
                    line,
                    one.place,
                    one.line,
                    site.is_conditional,
                )
            )

    def _add_mounts(self, path: RepoPath, site: Site, rule: MountRule) -> None:
        if rule.enters:
            return
        for call, owner in self._owners(path, site, rule.owner):
            prefixes = self._arguments.texts(call, rule.prefix) if rule.prefix else [""]
            for child in self._children(call, rule):
                if self._kinds.type_of(child) is None:
                    continue
                if prefixes is None:
                    self._hide(child)
                    continue
                has_prefix = bool(rule.prefix) and self._arguments.value(call, rule.prefix) is not None
                overrides = rule.join == "override" and has_prefix
                at, line = self._place_of(path, site, call)
                parent, below = (
                    (Typed(child, self._kinds.type_of(child) or ""), owner.thing)
                    if rule.inverse
                    else (owner, child)
                )
                is_conditional = site.is_conditional or call.environment.is_conditional
                for prefix in prefixes:
                    step = Step(at, line, prefix)
                    self._collected.mounts.append(
                        Mount(*parent, below, prefix, overrides, step, is_conditional)
                    )

    def _hide(self, child: Thing) -> None:
        """Notes that what is served below an object is served at a path that isn't known."""
        if child.origin is not None:
            self._collected.pathless.add(child.origin[:2])

    def _children(self, call: Located, rule: MountRule) -> Iterator[Thing]:
        path, value, environment = call
        if rule.child == "each":
            for item in value.arguments:
                inner = self._evaluator.items(Located(path, item, environment))
                for one in inner if inner is not None else [Located(path, item, environment)]:
                    yield self._served(one)
            return
        child = self._arguments.value(call, rule.child)
        if child is not None:
            yield self._served(child)

    def _served(self, located: Located) -> Thing:
        """The object that a value is; a module stands for the router that it exports."""
        owner = self._kinds.typed_object(located)
        if owner is not None:
            return owner.thing
        thing = self._evaluator.evaluate(located)
        evaluator = self._evaluator
        return evaluator.default_of(thing) if isinstance(evaluator, ScriptEvaluator) else thing

    def _environments(
        self, path: RepoPath, site: Site, receiver: Value | None = None
    ) -> Iterator[Environment]:
        """The values that names have at a site, one environment for each way to it."""
        if self._entered is not None:
            yield self._entered
            return
        yield from self._ways.at(path, site, receiver)

    @cached_property
    def _ways(self) -> CallEnvironments:
        return CallEnvironments(self._evaluator, self._kinds, self._paths, words_of(self._rule))

    def _methods(self, call: Located, rule: RouteRule) -> tuple[str, ...] | None:
        """The methods that a route names; none where its handler says them."""
        if rule.method == "name":
            name = call.value.text.removeprefix(rule.strip)
            return (rule.aliases.get(name, name).upper(),)
        value = self._arguments.value(call, rule.method)
        if value is None or (value.value.start < 0 and value.value.kind is not ValueKind.TEXT):
            return ()
        texts = self._arguments.texts(call, rule.method)
        return None if texts is None else tuple("ANY" if text == "*" else text.upper() for text in texts)

    def _handlers_of(self, path: RepoPath, site: Site, rule: RouteRule, call: Located) -> list[Handler]:
        if rule.handler == "decorated":
            place = self._evaluator.decorated_by(path, site)
            return self._handlers.of_definition(place) if place is not None else []
        value = self._arguments.value(call, rule.handler)
        if call.environment.stands_at is not None:
            at, outer = call.environment.stands_at
            if outer.kind is SiteKind.DECORATOR:
                place = self._evaluator.decorated_by(at, outer)
                return self._handlers.of_definition(place) if place is not None else []
        if rule.handler == "last" and value is not None and self._handlers.handles_errors(value):
            before = [one for one in call.value.arguments if not one.keyword][-2:-1]
            value = value._replace(value=before[0]) if before else value
        return self._handlers.resolve(value) if value is not None else [Handler((), None, 0)]


def _by_name(
    entries: Sequence[tuple[R, Sequence[str], Sequence[str]]],
) -> tuple[dict[str, list[R]], dict[str, list[R]]]:
    """Rules by the decorators and by the methods that they are about."""
    decorators: dict[str, list[R]] = {}
    calls: dict[str, list[R]] = {}
    for rule, decorator_names, call_names in entries:
        for name in decorator_names:
            decorators.setdefault(name, []).append(rule)
        for name in call_names:
            calls.setdefault(name, []).append(rule)
    return decorators, calls


def _chain_link(value: Value, name: str) -> Value | None:
    """The call of a name further up in a chain of calls."""
    current: Value | None = value
    while current is not None and current.kind is ValueKind.CALL:
        if current.text == name:
            return current
        current = current.receiver
    return None
