"""Endpoints: routes on objects and classes, composed over the mounts that lead to them.

Nothing composed is stored: a path is an answer, worked out from sites, imports and rules.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeVar

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.core.slots import EpochSlot
from codeplane.languages.sites import Site, SiteKind, Value, ValueKind
from codeplane.names import Codebase
from codeplane.surfaces.rule import (
    ControllerRule,
    MountRule,
    RouteRule,
    Rule,
    built_in_rules,
    selector,
    words_of,
)
from codeplane.surfaces.values import Environment, Evaluator, Located, Thing, ThingKind

R = TypeVar("R")

_MOST_CHAINS: Final = 50
_DEEPEST: Final = 12
_MOST_LOOPED: Final = 200
_ENDPOINTS: Final[EpochSlot[str, "Surface"]] = EpochSlot("endpoints")


class Step(NamedTuple):
    """One mount on the way to a route."""

    path: RepoPath
    line: int
    prefix: str


@dataclass(frozen=True)
class Endpoint:
    """One method and path that the repository serves, and what handles it."""

    method: str
    route: str
    path: RepoPath
    line: int
    framework: str
    tier: Tier
    handler: Place | None = None
    handler_line: int = 0
    chain: tuple[Step, ...] = ()
    mounted: str = "always"  # or `conditional`, or `never seen`


@dataclass(frozen=True)
class Surface:
    """The endpoints of a state, and where there are routes whose path can't be worked out."""

    endpoints: tuple[Endpoint, ...]
    dynamic: dict[RepoPath, int]


class _Route(NamedTuple):
    owner: Thing
    type_name: str
    methods: tuple[str, ...]
    text: str
    path: RepoPath
    line: int
    handler: Place | None
    handler_line: int
    is_conditional: bool


class _Mount(NamedTuple):
    parent: Thing
    parent_type: str
    child: Thing
    prefix: str
    overrides: bool
    step: Step
    is_conditional: bool


def endpoints_of(code: Codebase, rules: Sequence[Rule] | None = None) -> Surface:
    """Every endpoint of a state of the code."""
    if rules is None:
        return code.once(_ENDPOINTS, "", lambda: _collect(code, built_in_rules()))
    return _collect(code, rules)


def _collect(code: Codebase, rules: Sequence[Rule]) -> Surface:
    evaluator = Evaluator(code)
    endpoints: list[Endpoint] = []
    dynamic: dict[RepoPath, int] = {}
    for rule in rules:
        framework = _Framework(evaluator, rule)
        endpoints += framework.endpoints()
        for path, count in framework.dynamic.items():
            dynamic[path] = dynamic.get(path, 0) + count
    unique = dict.fromkeys(endpoints)
    return Surface(
        tuple(sorted(unique, key=lambda one: (one.route, one.method, one.path, one.line))), dynamic
    )


class _Framework:
    """The endpoints of one framework."""

    def __init__(self, evaluator: Evaluator, rule: Rule) -> None:
        self._evaluator, self._rule = evaluator, rule
        self._code = evaluator.code
        self._routes: list[_Route] = []
        self._mounts: list[_Mount] = []
        self.dynamic: dict[RepoPath, int] = {}
        self._route_rules = _by_name([(one, one.decorator, one.call) for one in rule.routes])
        self._mount_rules = _by_name([(one, (), one.call) for one in rule.mounts])

    def endpoints(self) -> list[Endpoint]:
        paths = self._candidates()
        if not paths:
            return []
        for path in sorted(paths):
            self._read(path)
        return [one for route in self._routes for one in self._composed(route)] + list(
            self._controllers(paths)
        )

    def _candidates(self) -> set[RepoPath]:
        """The files that import the framework, and those that import from them and use its words."""
        heads = {
            name.replace("/", ".").split(".")[0] if not name.startswith("@") else name
            for name in self._rule.imports
        }
        heads |= {part for name in self._rule.imports for part in name.split("/")[-1:]}
        direct = {path for path in self._code.importing(heads) if self._imports(path)}
        if not direct or not words_of(self._rule):
            return direct
        users = set(direct)
        words = self._code.paths_with_any(sorted(words_of(self._rule)))
        for _ in range(2):
            stems = {RepoPath(path).rpartition("/")[2].rpartition(".")[0] for path in users}
            stems |= {path.split("/")[-2] for path in users if "/" in path}
            users |= self._code.importing(stems) & words
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

    # Reading sites

    def _read(self, path: RepoPath) -> None:
        for site in self._evaluator.sites(path).sites:
            name = site.value.text
            if site.value.kind is not ValueKind.CALL or site.value.receiver is None:
                continue
            if site.kind is SiteKind.DECORATOR:
                for rule in self._route_rules[0].get(name, ()):
                    self._add_route(path, site, rule)
            elif site.kind is SiteKind.CALL and not self._is_decorator(path, site):
                for rule in self._route_rules[1].get(name, ()):
                    self._add_route(path, site, rule)
                for mount in self._mount_rules[1].get(name, ()):
                    self._add_mounts(path, site, mount)

    def _is_decorator(self, path: RepoPath, site: Site) -> bool:
        sites = self._evaluator.sites(path).sites
        return site.outer >= 0 and sites[site.outer].kind is SiteKind.DECORATOR

    def _add_route(self, path: RepoPath, site: Site, rule: RouteRule) -> None:
        for environment in self._environments(path, site):
            receiver = site.value.receiver
            assert receiver is not None, "BUG: checked before"
            path_call = site.value
            if rule.chain:
                link = _chain_link(receiver, rule.chain)
                if link is None:
                    continue
                path_call, receiver = link, link.receiver or receiver
            owner = self._evaluator.evaluate(Located(path, receiver, environment))
            kind = self._type_of(owner)
            if kind is None or kind not in rule.owner:
                continue
            if not rule.chain and rule.handler == "last" and len(site.value.arguments) < 2:
                continue  # `app.get("name")` asks for a setting
            self._add_resolved(path, site, rule, Located(path, path_call, environment), owner, kind)

    def _add_resolved(
        self, path: RepoPath, site: Site, rule: RouteRule, call: Located, owner: Thing, kind: str
    ) -> None:
        texts = self._texts(call, rule.path)
        methods = self._methods(Located(path, site.value, call.environment), rule)
        if texts is None or methods is None:
            self.dynamic[path] = self.dynamic.get(path, 0) + 1
            return
        handler, line = self._handler(path, site, rule, call.environment)
        for text in texts:
            self._routes.append(
                _Route(
                    owner,
                    kind,
                    methods,
                    text,
                    path,
                    self._evaluator.line_of(path, site.start),
                    handler,
                    line,
                    site.is_conditional,
                )
            )

    def _add_mounts(self, path: RepoPath, site: Site, rule: MountRule) -> None:
        for environment in self._environments(path, site):
            receiver = site.value.receiver
            assert receiver is not None, "BUG: checked before"
            parent = self._evaluator.evaluate(Located(path, receiver, environment))
            kind = self._type_of(parent)
            if kind is None or kind not in rule.owner:
                continue
            call = Located(path, site.value, environment)
            prefixes = self._texts(call, rule.prefix) if rule.prefix else [""]
            for child in self._children(call, rule):
                if self._type_of(child) is None:
                    continue
                if prefixes is None:
                    self.dynamic[path] = self.dynamic.get(path, 0) + 1
                    continue
                has_prefix = bool(rule.prefix) and self._value(call, rule.prefix) is not None
                for prefix in prefixes:
                    step = Step(path, self._evaluator.line_of(path, site.start), prefix)
                    self._mounts.append(
                        _Mount(
                            parent,
                            kind,
                            child,
                            prefix,
                            rule.join == "override" and has_prefix,
                            step,
                            site.is_conditional,
                        )
                    )

    def _children(self, call: Located, rule: MountRule) -> Iterator[Thing]:
        path, value, environment = call
        if rule.child == "each":
            for item in value.arguments:
                yield self._served(self._evaluator.evaluate(Located(path, item, environment)))
            return
        child = self._value(call, rule.child)
        if child is not None:
            yield self._served(self._evaluator.evaluate(child))

    def _served(self, thing: Thing) -> Thing:
        """A module that stands for the router that it exports."""
        if thing.kind is ThingKind.MODULE:
            for name in ("default", "router", "module.exports"):
                exported = self._evaluator.member(thing, name)
                if self._type_of(exported) is not None:
                    return exported
        return thing

    def _environments(self, path: RepoPath, site: Site) -> Iterator[Environment]:
        """The values that names have at a site: one for each round of the loop that it is in."""
        if site.loop < 0:
            yield Environment()
            return
        loop = self._evaluator.sites(path).sites[site.loop]
        items = self._evaluator.items(Located(path, loop.value))
        names = [name.strip() for name in loop.name.strip("()[]{} ").split(",")]
        names = [name.removeprefix("const ").removeprefix("let ").strip() for name in names]
        if items is None:
            yield Environment()
            return
        for item in items[:_MOST_LOOPED]:
            if len(names) == 1:
                yield Environment({names[0]: item})
            elif item.value.kind is ValueKind.LIST and len(item.value.items) == len(names):
                parts = [Located(item.path, part, item.environment) for part in item.value.items]
                yield Environment(dict(zip(names, parts, strict=True)))

    # Parts of calls

    def _value(self, call: Located, text: str) -> Located | None:
        """The argument that a selector means."""
        path, value, environment = call
        for part in selector(text):
            item: Value | None = None
            if part.startswith("kw."):
                item = value.keyword_argument(part[3:])
            elif part.startswith("arg"):
                number, _, key = part[3:].partition(".")
                item = value.argument(int(number))
                if item is not None and key:
                    item = next((one for one in item.items if one.keyword == key), None)
            elif part.startswith("'"):
                item = Value(ValueKind.TEXT, part.strip("'"))
            elif part == "text0":
                first = value.argument(0)
                item = (
                    first
                    if first is not None and first.kind in (ValueKind.TEXT, ValueKind.CONCAT)
                    else Value(ValueKind.TEXT, "")
                )
            elif part == "last":
                item = value.arguments[-1] if value.arguments else None
            if item is not None:
                return Located(path, item, environment)
        return None

    def _texts(self, call: Located, text: str) -> list[str] | None:
        """The texts that a selector means; an argument that isn't there is no text."""
        value = self._value(call, text)
        if value is None:
            return [""]
        single = self._evaluator.text(value)
        if single is not None:
            return [single]
        items = self._evaluator.items(value)
        texts = [self._evaluator.text(item) for item in items] if items is not None else [None]
        return None if None in texts else [one for one in texts if one is not None]

    def _methods(self, call: Located, rule: RouteRule) -> tuple[str, ...] | None:
        if rule.method == "name":
            return (call.value.text.upper(),)
        texts = self._texts(call, rule.method)
        return None if texts is None else tuple(text.upper() for text in texts)

    def _handler(
        self, path: RepoPath, site: Site, rule: RouteRule, environment: Environment
    ) -> tuple[Place | None, int]:
        if rule.handler == "decorated":
            place = self._decorated(path, site)
            return place, self._code.definition(place).name_line if place is not None else 0
        value = self._value(Located(path, site.value, environment), rule.handler)
        if value is None:
            return None, 0
        thing = self._evaluator.evaluate(value)
        if thing.kind is ThingKind.DEFINITION:
            return thing.target[0], self._code.definition(thing.target[0]).name_line
        return None, self._evaluator.line_of(value.path, value.value.start) if value.value.start >= 0 else 0

    def _decorated(self, path: RepoPath, site: Site) -> Place | None:
        """The definition that a decorator belongs to: the innermost around it, or the next behind it."""
        around = self._evaluator.definition_around(path, site.start)
        facts = self._code.require_facts(path)
        if around is not None:
            item = facts.definitions[around.definition]
            if item.name_line >= self._evaluator.line_of(path, site.end - 1):
                return around
        line = self._evaluator.line_of(path, site.end - 1)
        later = [
            number
            for number, item in enumerate(facts.definitions)
            if item.name_line >= line and item.kind in ("function", "method", "class")
        ]
        first = min(later, key=lambda number: facts.definitions[number].name_line, default=None)
        return Place(path, first) if first is not None else None

    def _type_of(self, thing: Thing) -> str | None:
        """The kind of object that something is to the framework."""
        if thing.kind is not ThingKind.OBJECT:
            return None
        names = {thing.text} if thing.text else set(self._evaluator.bases(thing.target[0]))
        return next((kind for kind, rule in self._rule.types.items() if names & set(rule.new)), None)

    # Composition

    def _composed(self, route: _Route) -> Iterator[Endpoint]:
        chains = list(self._chains(route.owner, route.type_name, 0))[:_MOST_CHAINS]
        is_lone = not chains
        for chain, is_conditional in chains or [((), False)]:
            own = "" if chain else self._own_prefix(route.owner, route.type_name)
            prefix = "".join(step.prefix for step in chain) if chain else own
            if prefix is None:
                self.dynamic[route.path] = self.dynamic.get(route.path, 0) + 1
                return
            mounted = (
                "never seen"
                if is_lone
                else "conditional"
                if is_conditional or route.is_conditional
                else "always"
            )
            tier = Tier.ANCHORED if route.owner.is_declared else Tier.STRONG
            for method in route.methods:
                yield Endpoint(
                    method,
                    _joined(prefix, route.text),
                    route.path,
                    route.line,
                    self._rule.framework,
                    tier,
                    route.handler,
                    route.handler_line,
                    tuple(step for step in chain if step.line),
                    mounted,
                )

    def _own_prefix(self, owner: Thing, kind: str) -> str | None:
        rule = self._rule.types[kind]
        if not rule.prefix or owner.made_by is None:
            return ""
        texts = self._texts(owner.made_by, rule.prefix)
        return texts[0] if texts is not None and len(texts) == 1 else None

    def _chains(self, owner: Thing, kind: str, depth: int) -> Iterator[tuple[tuple[Step, ...], bool]]:
        """The ways from a root down to an object: the mounts with their prefixes, the object's own last."""
        if depth > _DEEPEST:
            return
        own = self._own_prefix(owner, kind)
        if self._rule.types[kind].root and own is not None:
            yield (Step(RepoPath(""), 0, own),), False
        for mount in self._mounts:
            # Routes that a factory adds belong to every object that it makes.
            own = self._own_prefix(mount.child, kind) if _is_same(mount.child, owner) else None
            if own is None:
                continue
            step, own_step = mount.step, Step(RepoPath(""), 0, own)
            for chain, is_conditional in self._chains(mount.parent, mount.parent_type, depth + 1):
                last = () if mount.overrides else (own_step,)
                yield (*chain, step, *last), is_conditional or mount.is_conditional

    # Classes whose methods are routes

    def _controllers(self, paths: set[RepoPath]) -> Iterator[Endpoint]:
        for rule in self._rule.controllers:
            wanted = {*rule.marker, *rule.prefix_markers, *rule.methods}
            tails = {name.rpartition(".")[2] for name in wanted}
            for path in sorted(paths):
                marks: dict[Place, list[tuple[str, Site]]] = {}
                for site in self._evaluator.sites(path).sites:
                    if site.kind is SiteKind.DECORATOR and site.value.text in tails:
                        name = self._full_name(path, site.value)
                        place = self._decorated(path, site)
                        if name in wanted and place is not None:
                            marks.setdefault(place, []).append((name, site))
                yield from self._methods_of(path, rule, marks)

    def _methods_of(
        self, path: RepoPath, rule: ControllerRule, marks: dict[Place, list[tuple[str, Site]]]
    ) -> Iterator[Endpoint]:
        facts = self._code.require_facts(path)
        for place, some in marks.items():
            parent = facts.definitions[place.definition].parent
            around = marks.get(Place(path, parent), []) if parent >= 0 else []
            if not any(name in rule.marker for name, _ in around):
                continue
            bearer = rule.prefix_markers or rule.marker
            prefix_site = next((site for name, site in around if name in bearer), None)
            prefixes = (
                self._texts(Located(path, prefix_site.value), rule.prefix)
                if prefix_site is not None
                else [""]
            )
            for name, site in some:
                if name not in rule.methods:
                    continue
                texts = self._texts(Located(path, site.value), rule.path)
                if prefixes is None or texts is None:
                    self.dynamic[path] = self.dynamic.get(path, 0) + 1
                    continue
                line = self._evaluator.line_of(path, site.start)
                methods = self._served_methods(path, rule, name, site)
                for prefix in prefixes:
                    for text in texts:
                        for method in methods:
                            yield Endpoint(
                                method,
                                _joined_parts(prefix, text),
                                path,
                                line,
                                self._rule.framework,
                                Tier.STRONG,
                                place,
                                facts.definitions[place.definition].name_line,
                            )

    def _served_methods(self, path: RepoPath, rule: ControllerRule, name: str, site: Site) -> list[str]:
        value = self._value(Located(path, site.value), rule.method) if rule.method else None
        if value is None:
            return [rule.methods[name]]
        values = value.value.items if value.value.kind is ValueKind.LIST else (value.value,)
        return [item.text.rpartition(".")[2].upper() for item in values]

    def _full_name(self, path: RepoPath, value: Value) -> str:
        owner = value.receiver
        text = f"{owner.text}.{value.text}" if owner is not None else value.text
        start = owner.start if owner is not None else value.start
        thing = self._evaluator.evaluate(Located(path, Value(ValueKind.NAME, text, start)))
        return thing.text if thing.kind is ThingKind.EXTERNAL else ""


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


def _is_same(child: Thing, owner: Thing) -> bool:
    """Whether a mounted object is the one that a route was added to, or one of those that a factory makes."""
    if child.origin is None or owner.origin is None or child.origin[:2] != owner.origin[:2]:
        return False
    return not owner.origin.within or child.origin.within == owner.origin.within


def _joined(prefix: str, text: str) -> str:
    """A path behind its prefixes, as frameworks join them: each brings its own slash."""
    route = f"{prefix}{text}"
    while "//" in route:
        route = route.replace("//", "/")
    return route if route.startswith("/") else f"/{route}"


def _joined_parts(*parts: str) -> str:
    """Parts of a path with one slash between them, whether they bring one or not."""
    return "/" + "/".join(part.strip("/") for part in parts if part.strip("/"))
