"""Reads the routes and mounts of one framework whose routers are values."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.sites import Site, SiteKind, Value, ValueKind
from codeplane.surfaces.arguments import Arguments
from codeplane.surfaces.calls import loop_environments
from codeplane.surfaces.flow.anchors import Anchor, Anchors, Base
from codeplane.surfaces.flow.callers import Callers
from codeplane.surfaces.flow.marks import Marks
from codeplane.surfaces.flow.names import Names
from codeplane.surfaces.flow.rule import FlowRule, MountRule, RouteRule
from codeplane.surfaces.flow.verbs import VERBS, chained, handlers_in, verbs_of_value
from codeplane.surfaces.flow.wrappers import Wrappers
from codeplane.surfaces.values import Environment, Evaluator, Located, ThingKind

_VARIABLES: Final = frozenset({"variable", "constant", "field", "property"})


class FlowRoute(NamedTuple):
    """A route on a router. A text that only a caller knows is kept as the value that it is written as."""

    owner: Anchor
    methods: tuple[str, ...]
    text: str | None
    value: Located | None
    path: RepoPath
    line: int
    handler: Place | None
    handler_line: int
    is_conditional: bool


class FlowMount(NamedTuple):
    """A router below another."""

    parent: Anchor
    child: Anchor
    text: str | None
    value: Located | None
    path: RepoPath
    line: int
    is_conditional: bool


class Collector:
    """Everything that one framework's calls add to routers."""

    def __init__(self, evaluator: Evaluator, rule: FlowRule, paths: set[RepoPath]) -> None:
        self._evaluator, self._rule, self._paths = evaluator, rule, paths
        self._names = Names(evaluator, paths)
        self._callers = Callers(evaluator, self._names, paths)
        self._wrappers = Wrappers(evaluator, rule, self._names)
        self._anchors = Anchors(evaluator, rule, self._callers, self._wrappers, paths)
        self._arguments = Arguments(evaluator)
        self._marks = Marks(evaluator, rule, self._names)
        self._prefixing = self._wrappers.prefixing(paths)
        self.routes: list[FlowRoute] = []
        self.mounts: list[FlowMount] = []
        self._dynamic: set[tuple[RepoPath, int]] = set()

    @property
    def dynamic(self) -> dict[RepoPath, int]:
        """The routes of each file whose path isn't known, each once however many ways lead to it."""
        return dict(Counter(path for path, _ in sorted(self._dynamic)))

    def read(self) -> None:
        """Reads every file."""
        for path in sorted(self._paths):
            for site in self._evaluator.sites(path).sites:
                if site.kind is SiteKind.CALL and site.value.text:
                    self._read_call(path, site)

    def count_dynamic(self, path: RepoPath, line: int) -> None:
        self._dynamic.add((path, line))

    def _read_call(self, path: RepoPath, site: Site) -> None:
        name = site.value.text
        for route in self._rule.routes:
            if name in route.call or any(full.rpartition(".")[2] == name for full in route.function):
                for anchor in self._owners(path, site, route):
                    self._add_route(path, site, route, anchor)
        for mount in self._rule.mounts:
            if name in mount.call or any(full.rpartition(".")[2] == name for full in mount.function):
                for anchor in self._owners(path, site, mount):
                    self._add_mounts(path, site, mount, anchor)
        for mark in self._rule.marks:
            if name in mark.call and site.value.receiver is not None:
                for anchor in self._owners_by_receiver(path, site, mark.owner):
                    self._add_marked(path, site, anchor)
        if name in self._prefixing and self._wrappers.may_prefix(self._names.definition(path, site.value)):
            for _ in self._owners_by_receiver(path, site, tuple(self._rule.types)):
                self.count_dynamic(path, self._line(path, site))

    def _owners(self, path: RepoPath, site: Site, rule: RouteRule | MountRule) -> Iterator[Anchor]:
        if rule.function and self._names.full_name(Located(path, site.value)) in rule.function:
            kind = self._rule.default_type
            yield Anchor(kind, Base("default", RepoPath(""), 0, kind))
        elif rule.owner and site.value.text in rule.call and site.value.receiver is not None:
            yield from self._owners_by_receiver(path, site, rule.owner)

    def _owners_by_receiver(self, path: RepoPath, site: Site, kinds: Sequence[str]) -> Iterator[Anchor]:
        receiver = site.value.receiver
        assert receiver is not None, "BUG: checked before"
        around = self._evaluator.definition_around(path, site.start)
        if self._wrappers.is_around(around):
            return  # what a wrapper hands on is read where the wrapper is used
        for environment in loop_environments(self._evaluator, path, site):
            for anchor in self._anchors.resolve(Located(path, receiver)):
                if anchor.type_name not in kinds:
                    continue
                if environment.values:
                    values = {**anchor.environment.values, **environment.values}
                    anchor = anchor._replace(environment=Environment(values, anchor.environment.calls))
                yield anchor

    # Routes

    def _add_route(self, path: RepoPath, site: Site, rule: RouteRule, owner: Anchor) -> None:
        call = Located(path, site.value, owner.environment)
        positional = [item for item in site.value.arguments if not item.keyword]
        if owner.is_declared and not self._wrappers.takes_path(self._names.definition(path, site.value)):
            rule = rule.model_copy(update={"path": "", "fewest": 1})  # `m.Combo("/x").Get(h)`
        if len(positional) < rule.fewest:
            return
        if self._hands_to_router(call, rule):
            return
        where = self._arguments.value(call, rule.path) if rule.path else None
        texts: Sequence[str | None] | None = self._arguments.texts(call, rule.path) if rule.path else [""]
        handlers = list(self._handlers(call, rule))
        if rule.style == "verb_first" and texts is not None:
            self._add_patterns(path, site, owner, [text or "" for text in texts], handlers)
            return
        methods = self._methods(path, site, rule, call)
        if methods is None or not handlers:
            self.count_dynamic(path, self._line(path, site))
            return
        for text in texts if texts is not None else [None]:
            for verbs, place, line in handlers:
                self._append(site, owner, verbs or methods, (text, where), path, (place, line))

    def _hands_to_router(self, call: Located, rule: RouteRule) -> bool:
        """Whether what handles a path is a router itself: a mount, and no route."""
        value = self._arguments.value(call, rule.handler) if rule.handler and not rule.verbs_in else None
        return value is not None and bool(self._anchors.resolve(value))

    def _add_patterns(
        self,
        path: RepoPath,
        site: Site,
        owner: Anchor,
        texts: Sequence[str],
        handlers: Sequence[tuple[tuple[str, ...], Place | None, int]],
    ) -> None:
        """`GET example.com/x`: the method and the host before the path."""
        for text in texts:
            verb, space, rest = text.strip().partition(" ")
            if not space:
                verb, rest = "", text
            pattern = rest.strip()
            at = pattern.find("/")
            if at < 0 or (verb and verb.upper() not in VERBS):
                continue
            chain = self._chain_methods(path, site)
            methods = (verb.upper(),) if verb else chain or ("ANY",)
            for verbs, place, line in handlers:
                self._append(site, owner, verbs or methods, (pattern[at:], None), path, (place, line))

    def _append(
        self,
        site: Site,
        owner: Anchor,
        methods: tuple[str, ...],
        text: tuple[str | None, Located | None],
        path: RepoPath,
        handler: tuple[Place | None, int],
    ) -> None:
        line = self._line(path, site)
        self.routes.append(FlowRoute(owner, methods, *text, path, line, *handler, site.is_conditional))

    def _line(self, path: RepoPath, site: Site) -> int:
        return self._evaluator.line_of(path, site.value.start if site.value.start >= 0 else site.start)

    def _methods(self, path: RepoPath, site: Site, rule: RouteRule, call: Located) -> tuple[str, ...] | None:
        if rule.method == "chain":
            return self._chain_methods(path, site) or ("ANY",)
        if rule.method == "name":
            name = call.value.text
            return (self._rule.verbs.get(name) or name.upper(),)
        value = self._arguments.value(call, rule.method)
        if value is None:
            return ("ANY",)
        return verbs_of_value(self._evaluator, value)

    def _chain_methods(self, path: RepoPath, site: Site) -> tuple[str, ...]:
        """The methods that another call of the same chain names: `.HandleFunc(…).Methods("GET")`."""
        calls = [call for call in chained(site.value) if call.text in self._rule.method_calls]
        sites, current = self._evaluator.sites(path).sites, site
        while current.outer >= 0:
            outer = sites[current.outer]
            if outer.value.receiver is None or outer.start != current.start:
                break
            if outer.value.text in self._rule.method_calls:
                calls.append(outer.value)
            current = outer
        verbs: list[str] = []
        for call in calls:
            items = Value(ValueKind.LIST, items=tuple(item for item in call.arguments if not item.keyword))
            verbs += verbs_of_value(self._evaluator, Located(path, items)) or ()
        return tuple(dict.fromkeys(verbs))

    def _handlers(
        self, call: Located, rule: RouteRule
    ) -> Iterator[tuple[tuple[str, ...], Place | None, int]]:
        value = self._arguments.value(call, rule.handler) if rule.handler else None
        if rule.verbs_in == "handler" and value is not None:
            value = self._source(value)
            for verbs, function in handlers_in(value.value, self._rule.verb_calls, self._rule.handler_calls):
                place, line = (
                    self.handler(value._replace(value=function)) if function is not None else (None, 0)
                )
                yield verbs, place, line
            return
        yield (), *(self.handler(value) if value is not None else (None, 0))

    def _source(self, source: Located) -> Located:
        """The call that a name stands for."""
        for _ in range(4):
            value = source.value
            if value.kind is not ValueKind.NAME:
                break
            behind = self._evaluator.source_of(source)
            if behind is None or behind == source:
                break
            source = behind
        return source

    def handler(self, located: Located, depth: int = 0) -> tuple[Place | None, int]:
        """The function that handles a route, through calls around it; a closure is known by its line."""
        path, value, environment = located
        line = self._evaluator.line_of(path, value.start) if value.start >= 0 else 0
        if value.kind in (ValueKind.NAME, ValueKind.MEMBER) and depth < 6:
            if value.text in environment.values:
                return self.handler(environment.values[value.text], depth + 1)
            place = self._names.definition(path, value)
            if place is None:
                thing = self._evaluator.evaluate(located)
                place = thing.target[0] if thing.kind is ThingKind.DEFINITION else None
            if place is not None and self._evaluator.code.definition_kind(place) not in _VARIABLES:
                return place, self._evaluator.code.definition(place).name_line
        if value.kind is ValueKind.CALL and depth < 6:
            for item in reversed(value.arguments):
                if item.kind in (ValueKind.NAME, ValueKind.MEMBER, ValueKind.CALL):
                    place, at = self.handler(Located(path, item, environment), depth + 1)
                    if place is not None:
                        return place, at
            place = self._names.definition(path, value)
            if place is not None:
                return place, self._evaluator.code.definition(place).name_line
        return None, line

    # Mounts

    def _add_mounts(self, path: RepoPath, site: Site, rule: MountRule, parent: Anchor) -> None:
        call = Located(path, site.value, parent.environment)
        children = (
            [Located(path, item, parent.environment) for item in site.value.arguments]
            if rule.child == "each"
            else [value for value in [self._arguments.value(call, rule.child)] if value is not None]
        )
        where = self._arguments.value(call, rule.prefix) if rule.prefix else None
        texts = self._arguments.texts(call, rule.prefix) if rule.prefix else [""]
        line = self._evaluator.line_of(path, site.value.start)
        for child in children:
            for anchor in self._anchors.resolve(child):
                if anchor.base == parent.base:
                    continue
                for text in texts if texts is not None else [None]:
                    inner = anchor.outer or text
                    self.mounts.append(
                        FlowMount(parent, anchor, inner, where, path, line, site.is_conditional)
                    )

    # Functions with attributes

    def _add_marked(self, path: RepoPath, site: Site, owner: Anchor) -> None:
        for item in site.value.arguments:
            for entry in self._marks.routes_of(Located(path, item, owner.environment)):
                line = self._evaluator.line_of(entry.place.path, entry.start)
                if entry.text is None or entry.methods is None:
                    self.count_dynamic(entry.place.path, line)
                    continue
                handler_line = self._evaluator.code.definition(entry.place).name_line
                self.routes.append(
                    FlowRoute(
                        owner, entry.methods, entry.text, None, entry.place.path, line,
                        entry.place, handler_line, site.is_conditional,
                    )
                )  # fmt: skip
