"""The manifests that say what a module specifier means: `package.json` and `tsconfig.json`."""

from collections.abc import Iterator, Mapping
from posixpath import normpath
from typing import NamedTuple
from weakref import WeakKeyDictionary

from codeplane.core.documents import json_object
from codeplane.languages.modules import Sources

Json = Mapping[str, object]

_CONFIGS = ("tsconfig.json", "jsconfig.json")
_MOST = 2_000  # manifests of one name that are read
_CHAIN = 20  # configurations that extend each other
_REFERENCES = 20
_WORKSPACES = ("pnpm-workspace.yaml", "lerna.json", "rush.json")

_read: WeakKeyDictionary[Sources, dict[str, Json]] = WeakKeyDictionary()
_named: WeakKeyDictionary[Sources, dict[str, list[str]]] = WeakKeyDictionary()


class Config(NamedTuple):
    """What a TypeScript configuration says about modules."""

    paths: Mapping[str, list[str]]
    paths_base: str  # the directory that `paths` are relative to
    base_url: str | None
    conditions: tuple[str, ...]


def manifest(sources: Sources, path: str) -> Json:
    """A JSON object, comments and trailing commas allowed; empty where there is none to be read."""
    cache = _read.setdefault(sources, {})
    if path not in cache:
        cache[path] = _parse_json(sources.read(path))
    return cache[path]


def _parse_json(data: bytes | None) -> Json:
    if data is None:
        return {}
    return json_object(data, comments=True)


def joined(directory: str, path: str) -> str | None:
    """A path below the repository, or None where it leaves it."""
    if path.startswith("/"):
        return None
    result = normpath(f"{directory}/{path}" if directory else path)
    return None if result == ".." or result.startswith("../") else "" if result == "." else result


def above(path: str) -> Iterator[str]:
    """The directories around a file, inner ones first; the last is the root, ""."""
    directory = path.rpartition("/")[0]
    while directory:
        yield directory
        directory = directory.rpartition("/")[0]
    yield ""


def below(directory: str, name: str) -> str:
    return f"{directory}/{name}" if directory else name


def package_around(sources: Sources, path: str) -> str | None:
    """The directory of the package that the file belongs to."""
    return next((one for one in above(path) if sources.exists(below(one, "package.json"))), None)


def packages_named(sources: Sources, name: str) -> list[str]:
    """The directories of the packages that have this name."""
    if sources not in _named:
        by_name: dict[str, list[str]] = {}
        for path in list(sources.paths_named("package.json"))[:_MOST]:
            package = manifest(sources, path).get("name")
            if isinstance(package, str) and "/node_modules/" not in f"/{path}":
                by_name.setdefault(package, []).append(path.rpartition("/")[0])
        _named[sources] = by_name
    return _named[sources].get(name, [])


def share_workspace(sources: Sources, path: str, directory: str) -> bool:
    """Whether a directory around both says that it is a workspace."""
    around = set(above(below(directory, "package.json")))
    return any(
        one in around
        and (
            any(sources.exists(below(one, name)) for name in _WORKSPACES)
            or bool(manifest(sources, below(one, "package.json")).get("workspaces"))
        )
        for one in above(path)
    )


def configs(sources: Sources, path: str) -> list[Config]:
    """The configurations that may hold for a file: the nearest, and those that it refers to."""
    files = (below(one, name) for one in above(path) for name in _CONFIGS)
    nearest = next((file for file in files if sources.exists(file)), None)
    if nearest is None:
        return []
    results = [_read_config(sources, nearest)]
    references = manifest(sources, nearest).get("references")
    for item in references[:_REFERENCES] if isinstance(references, list) else ():
        target = item.get("path") if isinstance(item, dict) else None
        file = joined(nearest.rpartition("/")[0], target) if isinstance(target, str) else None
        if file is not None:
            file = file if file.endswith(".json") else below(file, "tsconfig.json")
            # A reference to a project elsewhere says nothing about this file.
            if file.rpartition("/")[0] == nearest.rpartition("/")[0]:
                results.append(_read_config(sources, file))
    return results


def _read_config(sources: Sources, file: str) -> Config:
    paths: Mapping[str, list[str]] | None = None
    paths_base = base_url = None
    conditions: tuple[str, ...] | None = None
    for one in _extended_configs(sources, file):
        options = manifest(sources, one).get("compilerOptions")
        options = options if isinstance(options, dict) else {}
        directory = one.rpartition("/")[0]
        url, path_map, custom = (options.get(key) for key in ("baseUrl", "paths", "customConditions"))
        if base_url is None and isinstance(url, str):
            base_url = joined(directory, url)
        if paths is None and isinstance(path_map, dict):
            paths, paths_base = {key: _string_list(value) for key, value in path_map.items()}, directory
        if conditions is None and isinstance(custom, list):
            conditions = tuple(_string_list(custom))
    base = base_url if base_url is not None else paths_base
    return Config(paths or {}, base or "", base_url, conditions or ())


def _string_list(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _extended_configs(sources: Sources, file: str) -> list[str]:
    """A configuration and those that it extends, the ones that count more first."""
    texts: list[str] = []
    waiting = [file]
    while waiting and len(texts) < _CHAIN:
        one = waiting.pop()
        if one in texts:
            continue
        texts.append(one)
        bases = manifest(sources, one).get("extends")
        for base in [bases] if isinstance(bases, str) else _string_list(bases):
            target = joined(one.rpartition("/")[0], base) if base.startswith(".") else None
            if target is not None:
                waiting.append(target if sources.exists(target) else f"{target}.json")
    return texts
