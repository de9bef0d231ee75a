"""Module federation: which remotes a host knows, what they expose, and the components behind it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from codeplane.core.documents import decode_json
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.sites import SiteKind, Value, ValueKind
from codeplane.surfaces.expanders.angular import AngularCode, AngularRoute, Remote, beside
from codeplane.surfaces.fact_graph import SurfaceFact
from codeplane.surfaces.values import Located, Thing, ThingKind

_CONFIG: Final = re.compile(
    r"(?:webpack|rspack|rsbuild|vite|federation|module-federation)[\w.-]*\.(?:m|c)?[jt]s$|craco\.config\.js$"
)
_MANIFEST: Final = re.compile(r"manifest\.json$")
_ENDINGS: Final = ("", ".ts", ".tsx", ".js", ".jsx", "/index.ts", "/index.tsx", "/index.js")
_MOST_MANIFEST: Final = 100_000


@dataclass
class _Config:
    """What one configuration says: its name, its remotes and what it exposes, with their lines."""

    path: RepoPath
    name: str
    remotes: dict[str, int] = field(default_factory=dict)
    exposes: dict[str, tuple[str, int]] = field(default_factory=dict)


def read_federation(angular: AngularCode) -> None:
    """Ties routes that load remotes to the components that these show."""
    routes = [route for route in angular.routes if route.remote is not None]
    if routes:
        federation = _Federation(angular)
        for route in routes:
            federation.tie(route)


class _Federation:
    def __init__(self, angular: AngularCode) -> None:
        self._angular, self._evaluator, self._code = angular, angular.evaluator, angular.code
        self._configs = [one for path in self._code.layout.ordered for one in self._configs_in(path)]

    def _configs_in(self, path: RepoPath) -> Iterator[_Config]:
        if _MANIFEST.search(path):
            config = self._manifest(path)
            if config is not None:
                yield config
        elif _CONFIG.search(path.rpartition("/")[2]) and self._evaluator.speaks(path):
            for site in self._evaluator.sites(path).sites:
                values = site.value.arguments if site.kind is SiteKind.CALL else (site.value,)
                for value in values if site.kind in (SiteKind.CALL, SiteKind.ASSIGN) else ():
                    if value.kind is ValueKind.MAPPING and _is_federation(value):
                        yield self._config(Located(path, value))

    def _config(self, mapping: Located) -> _Config:
        path = mapping.path
        name = self._text(mapping, "name") or self._text(mapping, "uniqueName") or _folder_name(path)
        config = _Config(path, name)
        for key, line, _ in self._entries(mapping, "remotes"):
            config.remotes[key] = line
        for key, line, value in self._entries(mapping, "exposes"):
            text = self._evaluator.text(value)
            thing = self._evaluator.evaluate(value)
            if text is None and thing.made_by is not None:  # `{import: "./src/x"}`
                inner = self._evaluator.mapping_item(thing.made_by, "import")
                text = self._evaluator.text(inner) if inner is not None else None
            if text is not None:
                config.exposes[key] = (text, line)
        return config

    def _text(self, mapping: Located, key: str) -> str:
        item = self._evaluator.mapping_item(mapping, key)
        return (self._evaluator.text(item) or "") if item is not None else ""

    def _entries(self, mapping: Located, key: str) -> Iterator[tuple[str, int, Located]]:
        """The keys of a mapping in a configuration, or the texts of a list."""
        item = self._evaluator.mapping_item(mapping, key)
        thing = self._evaluator.evaluate(item) if item is not None else None
        if thing is None or thing.made_by is None or thing.kind is not ThingKind.LITERAL:
            return
        path, value, environment = thing.made_by
        for one in value.items:
            line = self._evaluator.line_of(path, max(one.start, 0))
            name = one.keyword.strip("\"'") or one.text
            if name:
                yield name, line, Located(path, one, environment)

    def _manifest(self, path: RepoPath) -> _Config | None:
        data = self._code.read(path)
        if data is None or len(data) > _MOST_MANIFEST:
            return None
        try:
            table = decode_json(data)
        except ValueError:
            return None
        if not isinstance(table, dict) or not all(_is_entry(value) for value in table.values()):
            return None
        lines = data.decode("utf-8", "replace").splitlines()
        config = _Config(path, "")
        for name in table:
            line = next((number for number, text in enumerate(lines, 1) if f'"{name}"' in text), 1)
            config.remotes[str(name)] = line
        return config

    # Ties

    def tie(self, route: AngularRoute) -> None:
        """From a route of the host to the components of the remote."""
        remote, graph = route.remote, self._angular.graph
        assert remote is not None, "BUG: asked for before"
        host = SurfaceFact("HostRoute", route.text, route.fact.path, route.fact.line)
        graph.add(host)
        for mapping in self._mappings(remote):
            graph.connect(host, "MAPPED_BY", mapping)
            for config, key in self._exposing(remote):
                text, line = config.exposes[key]
                expose = SurfaceFact("RemoteExpose", f"{config.name} {key}", config.path, line)
                graph.connect(mapping, "LOADS", expose)
                path = self._exposed_path(config, text)
                if path is not None:
                    self._tie_module(expose, path, remote)

    def _mappings(self, remote: Remote) -> Iterator[SurfaceFact]:
        label = f"{remote.name} {remote.module}"
        for config in self._configs:
            if remote.name in config.remotes:
                yield SurfaceFact("FederationMapping", label, config.path, config.remotes[remote.name])
        if remote.entry:  # the route itself says where the remote is
            line = self._evaluator.line_of(remote.at.path, remote.at.value.start)
            yield SurfaceFact("FederationMapping", label, remote.at.path, line)

    def _exposing(self, remote: Remote) -> Iterator[tuple[_Config, str]]:
        """The configurations that expose what a route loads."""
        keys = (remote.module, f"./{remote.module.removeprefix('./')}")
        matches = [
            (config, key) for config in self._configs for key in dict.fromkeys(keys) if key in config.exposes
        ]
        of_name = [match for match in matches if _same_name(match[0].name, remote.name)]
        yield from of_name or (matches if not remote.name and len(matches) == 1 else ())

    def _exposed_path(self, config: _Config, text: str) -> RepoPath | None:
        for base in (beside(config.path, text), beside("", text)):
            for ending in _ENDINGS:
                if self._code.facts(f"{base}{ending}") is not None:
                    return RepoPath(f"{base}{ending}")
        return None

    def _tie_module(self, expose: SurfaceFact, path: RepoPath, remote: Remote) -> None:
        module = Thing(ThingKind.MODULE, target=(Place(path, -1),))
        member = remote.member or "default"
        thing = self._evaluator.member(module, member, follows=False)
        symbol, line = "", 1
        if thing.kind is ThingKind.DEFINITION:
            definition = self._code.definition(thing.target[0])
            is_here = thing.target[0].path == path
            symbol, line = (definition.name, definition.name_line) if is_here else ("", 1)
        fact = SurfaceFact("RemoteModule", path, path, line, symbol)
        self._angular.graph.connect(expose, "EXPOSES", fact)
        for place in dict.fromkeys(self._shown(module, member)):
            component = self._angular.component_fact(place, "DestinationComponent")
            self._angular.graph.connect(fact, "SHOWS", component)

    def _shown(self, module: Thing, member: str) -> Iterator[Place]:
        """The component that is exposed, or those that the routes of what is exposed show."""
        thing = self._evaluator.member(module, member)
        if thing.kind is ThingKind.DEFINITION and thing.target[0] in self._angular.components:
            yield thing.target[0]
            return
        is_plain = True
        for route in self._angular.routes_of(thing, "", ()):
            is_plain = False
            if route.component is not None:
                yield route.component
        if is_plain and thing.kind is ThingKind.DEFINITION and thing.target[0].path.endswith(("x", ".js")):
            yield thing.target[0]  # a component of another framework is a function or a class


def _is_federation(value: Value) -> bool:
    keys = {item.keyword for item in value.items}
    return bool(keys & {"exposes", "remotes"})


def _is_entry(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, dict) and "remoteEntry" in value)


def _folder_name(path: str) -> str:
    parts = path.split("/")
    return parts[-2] if len(parts) > 1 else ""


def _same_name(one: str, other: str) -> bool:
    """Whether names are the same: names of variables have `_` where folders have `-`."""
    return one.replace("-", "_").lower() == other.replace("-", "_").lower()
