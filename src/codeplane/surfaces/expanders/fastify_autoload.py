"""The plugins that `@fastify/autoload` finds in a folder, each with the prefix that its folders give it."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.languages.sites import Value, ValueKind
from codeplane.names import Codebase
from codeplane.surfaces.scripts import ScriptEvaluator
from codeplane.surfaces.values import Located

_SCRIPT: Final = re.compile(r"(?<!\.d)\.(?:m|c)?[jt]s$")
_INDEX: Final = re.compile(r"^index\.(?:m|c)?[jt]s$")
_IGNORED: Final = re.compile(r"\.(?:test|spec)\.|^\.autohooks|^_hooks")
_HERE: Final = frozenset({"__dirname", "import.meta.dirname"})
_JOINS: Final = frozenset({"join", "resolve"})
_DEEPEST: Final = 8


class LoadedPlugin(NamedTuple):
    """A file that is registered, and its prefix."""

    path: RepoPath
    prefix: str


def fastify_autoload(evaluator: ScriptEvaluator, call: Located) -> list[LoadedPlugin] | None:
    """The plugins of a registration; None where its folder isn't known."""
    options = call.value.argument(1)
    if options is None or options.kind is not ValueKind.MAPPING:
        return None
    folder = _folder_of(evaluator, call, _option(options, "dir"))
    if folder is None:
        return None
    inner = _option(options, "options")
    prefix = ""
    if inner is not None and inner.kind is ValueKind.MAPPING:
        value = _option(inner, "prefix")
        text = evaluator.text(Located(call.path, value, call.environment)) if value is not None else ""
        if text is None:
            return None
        prefix = text
    has_parameters = _is_set(options, "routeParams")
    names_folders = not _is_unset(options, "dirNameRoutePrefix")
    rows = list(_plugins(evaluator.code, folder, prefix, names_folders, has_parameters))
    return [row._replace(prefix=_own_prefix(evaluator, row, prefix)) for row in rows]


def _option(options: Value, name: str) -> Value | None:
    return next((item for item in options.items if item.keyword == name), None)


def _is_set(options: Value, name: str) -> bool:
    value = _option(options, name)
    return value is not None and value.text == "true"


def _is_unset(options: Value, name: str) -> bool:
    value = _option(options, name)
    return value is not None and value.text == "false"


def _plugins(
    code: Codebase, folder: str, prefix: str, names_folders: bool, has_parameters: bool, depth: int = 0
) -> Iterator[LoadedPlugin]:
    """A folder with an index file is that file, and the folders in it; one without is all of its files."""
    names = [name for name in code.names_in(folder) if _SCRIPT.search(name) and not _IGNORED.search(name)]
    index = [name for name in names if _INDEX.search(name)]
    for name in index[:1] or names:
        yield LoadedPlugin(RepoPath(_joined(folder, name)), prefix)
    for name in _folders_in(code, folder) if depth < _DEEPEST else ():
        part = f":{name[1:]}" if has_parameters and name.startswith("_") else name
        below = f"{prefix}/{part}" if names_folders else prefix
        yield from _plugins(code, _joined(folder, name), below, names_folders, has_parameters, depth + 1)


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _folders_in(code: Codebase, folder: str) -> list[str]:
    """The names of the folders in a folder."""
    start, paths = f"{folder}/" if folder else "", code.layout.ordered
    names: dict[str, None] = {}
    for path in paths[bisect_left(paths, start) :]:
        if not path.startswith(start):
            break
        name, slash, _ = path[len(start) :].partition("/")
        if slash and name != "node_modules":
            names[name] = None
    return list(names)


def _own_prefix(evaluator: ScriptEvaluator, row: LoadedPlugin, base: str) -> str:
    """The prefix that a file has: `autoPrefix` instead of its folders', `prefixOverride` of the whole."""
    table = evaluator.sites(row.path).by_name
    for name in ("prefixOverride", "autoPrefix"):
        heads = ("", "module.exports.", "exports.")
        sites = [site for head in heads for site in table.get(f"{head}{name}", ())]
        text = evaluator.text(Located(row.path, sites[0].value)) if len(sites) == 1 else None
        if text is not None:
            return text if name == "prefixOverride" else f"{base}/{text.lstrip('/')}"
    return row.prefix


def _folder_of(evaluator: ScriptEvaluator, call: Located, value: Value | None, depth: int = 0) -> str | None:
    """The folder that `path.join(__dirname, "routes")` and its like name."""
    if value is None or depth > _DEEPEST:
        return None
    path, _, environment = call
    here = path.rpartition("/")[0]
    if value.kind is ValueKind.NAME:
        if value.text in _HERE:
            return here
        source = evaluator.source_of(Located(path, value, environment))
        return _folder_of(evaluator, source, source.value, depth + 1) if source is not None else None
    if value.kind is ValueKind.MEMBER and value.text in (
        "dirname",
        "url",
    ):  # of `import.meta`, which is no name
        return here
    if value.kind is ValueKind.CONCAT:
        parts = [*value.items]
    elif value.kind is ValueKind.CALL and value.text in _JOINS:
        parts = [*value.arguments]
    elif value.kind is ValueKind.CALL and value.text in ("dirname", "fileURLToPath", "URL"):
        inner = value.argument(0)
        return (
            here if inner is not None and evaluator.text(Located(path, inner, environment)) is None else None
        )
    else:
        return None
    start = _folder_of(evaluator, call, parts[0], depth + 1)
    texts = [evaluator.text(Located(path, part, environment)) for part in parts[1:]]
    if start is None or None in texts:
        return None
    folder = start
    for text in "/".join(text for text in texts if text is not None).split("/"):
        if text == "..":
            folder = folder.rpartition("/")[0]
        elif text not in ("", "."):
            folder = _joined(folder, text)
    return folder
