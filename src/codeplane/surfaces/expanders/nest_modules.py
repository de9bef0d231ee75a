"""The endpoints of NestJS: controllers, the modules that lead to them, prefixes and versions."""

from collections import deque
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.languages.sites import CHOICE, FALLBACK, SPREAD, Site, SiteKind, Value, ValueKind
from codeplane.surfaces.arguments import Arguments
from codeplane.surfaces.kinds import ancestry
from codeplane.surfaces.markers import Marked, Markers
from codeplane.surfaces.routes import Endpoint, Step, joined_parts
from codeplane.surfaces.running import Entry, ScriptRun
from codeplane.surfaces.scripts import ScriptEvaluator
from codeplane.surfaces.values import Environment, Located, Origin, ThingKind

_DEEPEST: Final = 8
_COMMON: Final = "@nestjs/common."
_CORE: Final = "@nestjs/core."
_VERBS: Final = {
    f"{_COMMON}{name}": verb
    for name, verb in {
        **{
            name: name.upper()
            for name in ("Get", "Post", "Put", "Patch", "Delete", "Head", "Options", "All", "Search")
        },
        "Sse": "GET",
        "RequestMapping": "",
    }.items()
}
_MODULE: Final = f"{_COMMON}Module"
_CONTROLLER: Final = f"{_COMMON}Controller"
_VERSION: Final = f"{_COMMON}Version"
_MAKERS: Final = frozenset({f"{_CORE}NestFactory.create", f"{_CORE}NestFactory.createMicroservice"})
_ROUTERS: Final = frozenset(
    {f"{_CORE}RouterModule.{name}" for name in ("register", "forRoot", "forRoutes", "forChild")}
)
_SETTERS: Final = ("setGlobalPrefix", "enableVersioning")
_NEUTRAL: Final = f"{_COMMON}VERSION_NEUTRAL"
_URI: Final = f"{_COMMON}VersioningType.URI"


class _Use(NamedTuple):
    """A module below another one."""

    place: Place
    step: Step
    is_conditional: bool


@dataclass
class _Application:
    """What `NestFactory.create` makes, and what is said about it."""

    root: Place
    origin: Origin
    step: Step
    prefix: str | None = ""
    exclusions: list[str] = field(default_factory=list)
    has_versions: bool = False
    version_prefix: str = "v"
    versions: list[str] = field(default_factory=list)


class _Controller(NamedTuple):
    """A class with routes: its paths and versions; None where they can't be worked out."""

    place: Place
    paths: list[str] | None
    versions: list[str] | None


class NestModules:
    """The controllers of the applications of one state."""

    def __init__(
        self, evaluator: ScriptEvaluator, framework: str, paths: Set[RepoPath], dynamic: dict[RepoPath, int]
    ) -> None:
        self._evaluator, self._framework, self._paths, self._dynamic = evaluator, framework, paths, dynamic
        self._code, self._arguments = evaluator.code, Arguments(evaluator)
        self._markers = Markers(evaluator, paths)
        self._module_paths: dict[Place, str] = {}

    def endpoints(self) -> Iterator[Endpoint]:
        """Every endpoint: once for each application that has its controller, or as never mounted."""
        modules = {one.place: one for one in self._markers.of(_MODULE)}
        controllers = {one.place: self._controller(one) for one in self._markers.of(_CONTROLLER)}
        if not controllers:
            return
        for module in modules.values():
            self._read_router_modules(module)
        live_controllers: set[Place] = set()
        for application in self._applications():
            for module_place, chain, is_conditional in self._reached(application.root, modules):
                for place in self._listed(modules.get(module_place), "controllers"):
                    if place in controllers:
                        live_controllers.add(place)
                        mount_state = "conditional" if is_conditional else "always"
                        steps = (application.step, *chain)
                        module_path = self._module_paths.get(module_place, "")
                        yield from self._routes(
                            controllers[place], application, module_path, steps, mount_state
                        )
        for place, controller in controllers.items():
            if place not in live_controllers and not self._is_base(place, controllers):
                yield from self._routes(controller, None, "", (), "never seen")

    def _is_base(self, place: Place, controllers: dict[Place, _Controller]) -> bool:
        """Whether other controllers are derived from a class: its routes are theirs."""
        return any(place in list(ancestry(self._evaluator, one))[1:] for one in controllers if one != place)

    # Applications

    def _applications(self) -> list[_Application]:
        applications: dict[Origin, _Application] = {}
        starting = {path for path in self._paths if self._makes_application(path)}
        settings: list[tuple[Located, Origin | None]] = []

        def meet(path: RepoPath, site: Site, environment: Environment) -> list[Entry]:
            call = Located(path, site.value, environment)
            if site.value.text in _SETTERS and site.value.receiver is not None:
                owner = self._evaluator.evaluate(call._replace(value=site.value.receiver))
                settings.append((call, owner.origin))
            elif site.value.text in ("create", "createMicroservice"):
                thing = self._evaluator.evaluate(call)
                module = self._arguments.value(call, "arg0") if thing.text in _MAKERS else None
                root = self._evaluator.evaluate(module) if module is not None else None
                if root is not None and root.kind is ThingKind.DEFINITION and thing.origin is not None:
                    step = Step(path, self._evaluator.line_of(path, site.start), "")
                    applications.setdefault(thing.origin, _Application(root.target[0], thing.origin, step))
            return []

        ScriptRun(self._evaluator, starting, meet, self._is_application).run()
        for call, origin in settings:
            application = applications.get(origin) if origin is not None else None
            for one in [application] if application is not None else []:
                self._apply(one, call)
        return list(applications.values())

    def _makes_application(self, path: RepoPath) -> bool:
        texts = {site.value.text for site in self._evaluator.sites(path).sites if site.kind is SiteKind.CALL}
        return bool(texts & {*_SETTERS, "create", "createMicroservice"})

    def _is_application(self, located: Located) -> bool:
        return self._evaluator.evaluate(located).text in _MAKERS

    def _apply(self, application: _Application, call: Located) -> None:
        if call.value.text == "setGlobalPrefix":
            value = self._arguments.value(call, "arg0")
            application.prefix = self._setting_text(value) if value is not None else None
            exclusions = self._arguments.value(call, "arg1.exclude")
            for item in (self._evaluator.items(exclusions) or ()) if exclusions is not None else ():
                text = self._evaluator.text(item)
                if text is None and item.value.kind is ValueKind.MAPPING:
                    path = self._evaluator.mapping_item(item, "path")
                    text = self._evaluator.text(path) if path is not None else None
                application.exclusions.append((text or "").strip("/"))
            return
        kind = self._arguments.value(call, "arg0.type")
        is_uri = kind is None or self._evaluator.evaluate(kind).text in (_URI, "")
        application.has_versions = is_uri
        prefix = self._arguments.value(call, "arg0.prefix")
        if prefix is not None:
            is_none = prefix.value.kind is ValueKind.CONSTANT
            application.version_prefix = "" if is_none else self._evaluator.text(prefix) or ""
        default = self._arguments.value(call, "arg0.defaultVersion")
        application.versions = (self._versions(default) or []) if default is not None else []

    def _setting_text(self, located: Located, depth: int = 0) -> str | None:
        """A text, or the default of a setting: `config.get("app.prefix")` with `registerAs("app", …)`."""
        text = self._evaluator.text(located)
        path, value, environment = self._source(located)
        if text is not None or value.kind is not ValueKind.CALL or depth > 4:
            return text
        if value.text == FALLBACK:
            parts = [self._setting_text(Located(path, item, environment), depth + 1) for item in value.items]
            return next((part for part in parts if part is not None), None)
        key, default = value.argument(0), value.argument(1)
        name = self._evaluator.text(Located(path, key, environment)) if key is not None else None
        if value.text not in ("get", "getOrThrow") or name is None:
            return None
        head, _, rest = name.partition(".")
        for setting in self._registered(head) if rest else ():
            item = self._evaluator.mapping_item(setting, rest)
            return self._evaluator.text(item) if item is not None else None
        return self._evaluator.text(Located(path, default, environment)) if default is not None else None

    def _registered(self, name: str) -> Iterator[Located]:
        """The mappings of settings that `registerAs` names."""
        for path in sorted(self._code.paths_with("registerAs")):
            for site in self._evaluator.sites(path).sites if self._evaluator.speaks(path) else ():
                call = Located(path, site.value)
                if site.kind is not SiteKind.CALL or site.value.text != "registerAs":
                    continue
                if self._arguments.texts(call, "arg0") == [name]:
                    factory = self._arguments.value(call, "arg1")
                    thing = self._evaluator.evaluate(factory) if factory is not None else None
                    ref = self._evaluator.function_of(thing) if thing is not None else None
                    for result in self._evaluator.returned_by(ref, call) if ref is not None else ():
                        if result.value.kind is ValueKind.MAPPING:
                            yield result

    # Modules

    def _reached(
        self, root: Place, modules: dict[Place, Marked]
    ) -> Iterator[tuple[Place, tuple[Step, ...], bool]]:
        """The modules that an application has, with the imports that lead to each."""
        pending: deque[tuple[Place, tuple[Step, ...], bool]] = deque([(root, (), False)])
        visits: set[Place] = set()
        while pending:
            place, chain, is_conditional = pending.popleft()
            if place in visits:
                continue
            visits.add(place)
            yield place, chain, is_conditional
            for use in self._uses(modules.get(place)):
                pending.append((use.place, (*chain, use.step), is_conditional or use.is_conditional))

    def _uses(self, module: Marked | None) -> Iterator[_Use]:
        imports = self._arguments.value(module.call, "arg0.imports") if module is not None else None
        for item in self._flat(imports) if imports is not None else ():
            for place in self._modules_of(item):
                line = self._evaluator.line_of(item.path, max(item.value.start, 0))
                is_conditional = self._source(item).value.text in ("registerWhen", CHOICE)
                yield _Use(place, Step(item.path, line, ""), is_conditional)

    def _flat(self, located: Located, depth: int = 0) -> Iterator[Located]:
        """The items of a list, of the lists that it spreads and of those behind names."""
        path, value, environment = located
        if depth > 6:
            return
        if value.kind is ValueKind.LIST:
            for item in value.items:
                if item.kind is ValueKind.CALL and item.text == SPREAD:
                    yield from self._flat(Located(path, item.items[0], environment), depth + 1)
                else:
                    yield Located(path, item, environment)
            return
        if value.kind is ValueKind.CALL and value.text == CHOICE:
            for choice in value.items:
                yield from self._flat(Located(path, choice, environment), depth + 1)
            return
        thing = self._evaluator.evaluate(located)
        if thing.kind is ThingKind.LITERAL and thing.made_by is not None:
            yield from self._flat(thing.made_by, depth + 1)

    def _modules_of(self, item: Located, depth: int = 0) -> Iterator[Place]:
        """The module that an item is, and those that a dynamic one brings."""
        thing = self._evaluator.evaluate(item)
        if thing.kind is ThingKind.DEFINITION:
            yield thing.target[0]
            return
        path, value, environment = item = self._source(item)
        if value.kind is not ValueKind.CALL or depth > _DEEPEST:
            return
        if value.text == CHOICE:
            for choice in value.items:
                yield from self._modules_of(Located(path, choice, environment), depth + 1)
            return
        first = value.argument(0)
        if value.text == "forwardRef" and first is not None:
            ref = self._evaluator.function_of(self._evaluator.evaluate(Located(path, first, environment)))
            for result in self._evaluator.returned_by(ref, item) if ref is not None else ():
                yield from self._modules_of(result, depth + 1)
        elif value.text == "registerWhen" and first is not None:
            yield from self._modules_of(Located(path, first, environment), depth + 1)
        if value.receiver is not None:
            owner = self._evaluator.evaluate(Located(path, value.receiver, environment))
            if owner.kind is ThingKind.DEFINITION:
                yield owner.target[0]
            if thing.kind is ThingKind.LITERAL and thing.made_by is not None:
                imports = self._evaluator.mapping_item(thing.made_by, "imports")
                for inner in self._flat(imports) if imports is not None else ():
                    yield from self._modules_of(inner, depth + 1)

    def _source(self, item: Located) -> Located:
        """What a name was given; anything else is itself."""
        if item.value.kind is not ValueKind.NAME:
            return item
        return self._evaluator.source_of(item) or item

    def _listed(self, module: Marked | None, name: str) -> Iterator[Place]:
        """The classes in a list of a module."""
        classes = self._arguments.value(module.call, f"arg0.{name}") if module is not None else None
        for item in self._flat(classes) if classes is not None else ():
            thing = self._evaluator.evaluate(item)
            if thing.kind is ThingKind.DEFINITION:
                yield thing.target[0]

    def _read_router_modules(self, module: Marked) -> None:
        """The paths that `RouterModule.register([{path, module, children}])` gives modules."""
        imports = self._arguments.value(module.call, "arg0.imports")
        for item in self._flat(imports) if imports is not None else ():
            is_router = item.value.kind is ValueKind.CALL and self._evaluator.evaluate(item).text in _ROUTERS
            routes = self._arguments.value(item, "arg0") if is_router else None
            if routes is not None:
                self._read_module_paths(routes, "")

    def _read_module_paths(self, routes: Located, above: str, depth: int = 0) -> None:
        for item in self._flat(routes) if depth < 8 else ():
            thing = self._evaluator.evaluate(item)
            if thing.kind is ThingKind.DEFINITION and above:
                self._module_paths[thing.target[0]] = above
                continue
            if thing.made_by is None or thing.kind is not ThingKind.LITERAL:
                continue
            path, module, children = (
                self._evaluator.mapping_item(thing.made_by, name) for name in ("path", "module", "children")
            )
            text = self._evaluator.text(path) if path is not None else ""
            below = joined_parts(above, text or "")
            target = self._evaluator.evaluate(module) if module is not None else None
            if target is not None and target.kind is ThingKind.DEFINITION:
                self._module_paths[target.target[0]] = below
            if children is not None:
                self._read_module_paths(children, below, depth + 1)

    # Controllers

    def _controller(self, marked: Marked) -> _Controller:
        first = marked.call.value.argument(0)
        path = self._arguments.value(marked.call, "arg0.path") if first is not None else None
        version = self._arguments.value(marked.call, "arg0.version") if first is not None else None
        is_options = first is not None and (
            path is not None or version is not None or first.kind is ValueKind.MAPPING
        )
        path_value = path if is_options else self._arguments.value(marked.call, "arg0")
        versions = self._versions(version) if version is not None else []
        return _Controller(marked.place, self._texts(path_value), versions)

    def _texts(self, located: Located | None) -> list[str] | None:
        if located is None:
            return [""]
        call = Value(ValueKind.CALL, items=(located.value._replace(keyword=""),))
        return self._arguments.texts(located._replace(value=call), "arg0")

    def _versions(self, located: Located) -> list[str] | None:
        """Versions as texts; the neutral one is none."""
        items = self._evaluator.items(located) or [located]
        texts: list[str] = []
        for item in items:
            if item.value.kind is ValueKind.CONSTANT:
                texts.append(item.value.text)
                continue
            thing = self._evaluator.evaluate(item)
            if thing.kind is not ThingKind.TEXT and thing.text != _NEUTRAL:
                return None
            texts.append("" if thing.text == _NEUTRAL else thing.text)
        return texts

    def _routes(
        self,
        controller: _Controller,
        application: _Application | None,
        module_path: str,
        steps: tuple[Step, ...],
        mount_state: str,
    ) -> Iterator[Endpoint]:
        for method, marks in self._methods(controller.place):
            for mark in marks:
                verb = _VERBS[mark.name] or self._mapped_verb(mark)
                texts = self._texts(self._arguments.value(mark.call, "arg0.path | arg0"))
                versions = self._method_versions(controller, method, application)
                prefix = application.prefix if application is not None else ""
                if (
                    controller.paths is None
                    or texts is None
                    or versions is None
                    or prefix is None
                    or not verb
                ):
                    self._dynamic[mark.path] = self._dynamic.get(mark.path, 0) + 1
                    continue
                for path in self._composed(controller.paths, texts, versions, module_path, application):
                    yield Endpoint(
                        verb,
                        path,
                        mark.path,
                        mark.line,
                        self._framework,
                        Tier.STRONG,
                        method,
                        self._code.definition(method).name_line,
                        steps,
                        mount_state,
                    )
                break  # the outermost decorator counts

    def _composed(
        self,
        controller_paths: Sequence[str],
        texts: Sequence[str],
        versions: Sequence[str],
        module_path: str,
        application: _Application | None,
    ) -> Iterator[str]:
        for controller_path in controller_paths:
            for text in texts:
                plain = joined_parts(module_path, controller_path, text)
                for version in versions:
                    mark = (
                        f"{application.version_prefix}{version}"
                        if application is not None and version
                        else ""
                    )
                    path = joined_parts(mark, plain)
                    is_bare = (
                        application is None or not application.prefix or self._is_excluded(application, plain)
                    )
                    yield (
                        path
                        if is_bare or application is None
                        else joined_parts(application.prefix or "", path)
                    )

    def _is_excluded(self, application: _Application, path: str) -> bool:
        for text in application.exclusions:
            head, star, _ = text.partition("*")
            start = head.replace("(.", "").strip("/{")
            if path.strip("/") == text or (star and path.strip("/").startswith(start)):
                return True
        return False

    def _method_versions(
        self, controller: _Controller, method: Place, application: _Application | None
    ) -> list[str] | None:
        if application is None or not application.has_versions:
            return [""]
        own = next((one for one in self._markers.on(method) if one.name == _VERSION), None)
        if own is not None:
            version = self._arguments.value(own.call, "arg0")
            return self._versions(version) if version is not None else [""]
        if controller.versions is None:
            return None
        return controller.versions or application.versions or [""]

    def _mapped_verb(self, mark: Marked) -> str:
        value = self._arguments.value(mark.call, "arg0.method")
        return value.value.text.rpartition(".")[2] if value is not None else "GET"

    def _methods(self, place: Place) -> Iterator[tuple[Place, list[Marked]]]:
        """The methods of a class and of those above it that decorators make routes."""
        names: set[str] = set()
        for one in ancestry(self._evaluator, place):
            if isinstance(one, str):
                continue
            for number, item in enumerate(self._code.require_facts(one.path).definitions):
                if item.parent != one.definition or item.kind != "method" or item.name in names:
                    continue
                names.add(item.name)
                method = Place(one.path, number)
                marks = [mark for mark in self._markers.on(method) if mark.name in _VERBS]
                if marks:
                    yield method, marks
