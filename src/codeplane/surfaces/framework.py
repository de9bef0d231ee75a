"""Routes and mounts of one framework, read from the sites of the files that use it."""

from collections.abc import Iterator, Sequence
from typing import Final, TypeVar

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.sites import Site, SiteKind, Value, ValueKind
from codeplane.surfaces.arguments import Arguments
from codeplane.surfaces.composition import Composition
from codeplane.surfaces.controllers import Controllers
from codeplane.surfaces.routes import Endpoint, Mount, Route, Step
from codeplane.surfaces.rule import MountRule, RouteRule, Rule, words_of
from codeplane.surfaces.values import Environment, Evaluator, Located, Thing, ThingKind

R = TypeVar("R")
_MOST_LOOPED: Final = 200


class Framework:
    """The endpoints of one framework."""

    def __init__(self, evaluator: Evaluator, rule: Rule) -> None:
        self._evaluator, self._rule = evaluator, rule
        self._code, self._arguments = evaluator.code, Arguments(evaluator)
        self._routes: list[Route] = []
        self._mounts: list[Mount] = []
        self.dynamic: dict[RepoPath, int] = {}
        self._route_rules = _by_name([(one, one.decorator, one.call) for one in rule.routes])
        self._mount_rules = _by_name([(one, (), one.call) for one in rule.mounts])

    def endpoints(self) -> list[Endpoint]:
        paths = self._candidates()
        if not paths:
            return []
        for path in sorted(paths):
            self._read(path)
        composition = Composition(self._evaluator, self._rule, self._mounts, self.dynamic)
        controllers = Controllers(self._evaluator, self._rule, self.dynamic)
        composed = [one for route in self._routes for one in composition.endpoints(route)]
        return composed + list(controllers.endpoints(paths))

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
        texts = self._arguments.texts(call, rule.path)
        methods = self._methods(Located(path, site.value, call.environment), rule)
        if texts is None or methods is None:
            self.dynamic[path] = self.dynamic.get(path, 0) + 1
            return
        handler, line = self._handler(path, site, rule, call.environment)
        for text in texts:
            self._routes.append(
                Route(
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
            prefixes = self._arguments.texts(call, rule.prefix) if rule.prefix else [""]
            for child in self._children(call, rule):
                if self._type_of(child) is None:
                    continue
                if prefixes is None:
                    self.dynamic[path] = self.dynamic.get(path, 0) + 1
                    continue
                has_prefix = bool(rule.prefix) and self._arguments.value(call, rule.prefix) is not None
                for prefix in prefixes:
                    step = Step(path, self._evaluator.line_of(path, site.start), prefix)
                    self._mounts.append(
                        Mount(
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
        child = self._arguments.value(call, rule.child)
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

    def _methods(self, call: Located, rule: RouteRule) -> tuple[str, ...] | None:
        if rule.method == "name":
            return (call.value.text.upper(),)
        texts = self._arguments.texts(call, rule.method)
        return None if texts is None else tuple(text.upper() for text in texts)

    def _handler(
        self, path: RepoPath, site: Site, rule: RouteRule, environment: Environment
    ) -> tuple[Place | None, int]:
        if rule.handler == "decorated":
            place = self._evaluator.decorated_by(path, site)
            return place, self._code.definition(place).name_line if place is not None else 0
        value = self._arguments.value(Located(path, site.value, environment), rule.handler)
        if value is None:
            return None, 0
        thing = self._evaluator.evaluate(value)
        if thing.kind is ThingKind.DEFINITION:
            return thing.target[0], self._code.definition(thing.target[0]).name_line
        return None, self._evaluator.line_of(value.path, value.value.start) if value.value.start >= 0 else 0

    def _type_of(self, thing: Thing) -> str | None:
        """The kind of object that something is to the framework."""
        if thing.kind is not ThingKind.OBJECT:
            return None
        names = {thing.text} if thing.text else set(self._evaluator.bases(thing.target[0]))
        return next((kind for kind, rule in self._rule.types.items() if names & set(rule.new)), None)


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
