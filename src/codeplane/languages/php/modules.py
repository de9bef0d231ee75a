"""How PHP finds names: what Composer loads by itself, and which files declare a namespace."""

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from codeplane.core.documents import json_object
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.facts import Import
from codeplane.languages.foreign import ForeignImport
from codeplane.languages.modules import Sources

_MOST_MANIFESTS = 500
_MOST_ENTRIES = 2_000


@dataclass(frozen=True)
class _Loading:
    """What the manifests of the repository say: prefix → directories, and directories that are for tests."""

    psr4: dict[str, list[str]]
    psr0: dict[str, list[str]]
    tests: tuple[str, ...]


_loading: "WeakKeyDictionary[Sources, _Loading]" = WeakKeyDictionary()


def module_name(sources: Sources, path: str) -> str:
    """The namespace; the path without its ending where there is none, or several."""
    package = sources.package(path)
    return package if package and " " not in package else path.rsplit(".", 1)[0]


def places(sources: Sources, path: str, imported: ForeignImport) -> Sequence[Place]:
    """The file that the class is loaded from, or all files that declare the namespace."""
    if imported.kind == "php_include":
        return _included_places(sources, path, imported.module)
    files = _autoloaded(sources, imported) if imported.kind == "php_use" else []
    return files or _declaring_files(sources, path, imported.module)


def ambient(sources: Sources, place: Place) -> Sequence[Sequence[Place]]:
    """The files of the same namespace, and for functions and constants those of none."""
    package = sources.package(place.path)
    if place.definition >= 0 or " " in package:
        return ()
    own = [_declaring_files(sources, place.path, package)]
    return [*own, _declaring_files(sources, place.path, "")] if package else own


def submodule(sources: Sources, place: Place, name: str) -> Sequence[Place]:
    """The namespace below that of a file."""
    package = sources.package(place.path)
    if place.definition >= 0 or " " in package:
        return ()
    return sources.declaring(f"{package}\\{name}".lstrip("\\"), "php")


def qualified(sources: Sources, place: Place, text: str) -> Import | None:
    """A name with `\\` in it as the import that it amounts to."""
    full = text[1:] if text.startswith("\\") else _from_here(sources, place, text)
    module, _, name = (full or "").rpartition("\\")
    return Import(0, "php_use", module, name, "", 0, 0) if name else None


def _from_here(sources: Sources, place: Place, text: str) -> str | None:
    package = sources.package(place.path)
    if place.definition >= 0 or " " in package:
        return None
    first, _, rest = text.partition("\\")
    if first.lower() == "namespace":
        return f"{package}\\{rest}".lstrip("\\")
    uses = [one for one in sources.imports(place.path) if one.kind == "php_use"]
    same = {(one.alias, one.module, one.name) for one in uses if one.alias.lower() == first.lower()}
    if not same:
        return f"{package}\\{text}".lstrip("\\")
    alias, module, name = same.pop()
    # Several files' worth of namespaces, or another letter case: not certain.
    return None if same or alias != first else f"{module}\\{name}\\{rest}".lstrip("\\")


def _included_places(sources: Sources, path: str, module: str) -> Sequence[Place]:
    """What is found through the include path depends on how the program is started."""
    if not module.startswith("./"):
        return ()
    file = _inside_repository(posixpath.dirname(path), module)
    return (Place(RepoPath(file)),) if file and sources.exists(file) else ()


def _declaring_files(sources: Sources, path: str, package: str) -> list[Place]:
    """Files for tests are seen by files for tests alone."""
    tests = _autoload_rules(sources).tests
    places = sources.declaring(package, "php")
    if not tests or path.startswith(tests):
        return list(places)
    return [place for place in places if not place.path.startswith(tests)]


def _autoloaded(sources: Sources, imported: ForeignImport) -> list[Place]:
    """The files that the loader tries for a class, those that are there and declare its namespace."""
    loading = _autoload_rules(sources)
    full = f"{imported.module}\\{imported.name}".lstrip("\\")
    for prefix in _namespace_prefixes(full):
        below = full[len(prefix) :].replace("\\", "/") + ".php"
        candidates = [_inside_repository(directory, below) for directory in loading.psr4.get(prefix, ())]
        if places := _present_files(sources, candidates, imported.module):
            return places
    legacy = imported.module.replace("\\", "/") + "/" + imported.name.replace("_", "/") + ".php"
    candidates = [
        _inside_repository(directory, legacy.lstrip("/"))
        for prefix, directories in loading.psr0.items()
        for directory in directories
        if full.startswith(prefix)
    ]
    return _present_files(sources, candidates, imported.module)


def _present_files(sources: Sources, tried: Sequence[str | None], package: str) -> list[Place]:
    there = {path for path in tried if path and sources.exists(path) and sources.package(path) == package}
    return [Place(RepoPath(path)) for path in sorted(there)]


def _namespace_prefixes(full: str) -> Iterator[str]:
    """The namespaces that a name is in, inner ones first, with their last `\\`."""
    while "\\" in full:
        full = full.rpartition("\\")[0]
        yield full + "\\"
    yield ""


def _inside_repository(directory: str, relative: str) -> str | None:
    """The path of a file, or None where it leaves the repository."""
    result = posixpath.normpath(posixpath.join(directory, relative))
    return None if result.startswith(("/", "../")) or result in ("..", ".") else result


def _autoload_rules(sources: Sources) -> _Loading:
    loading = _loading.get(sources)
    if loading is None:
        loading = _loading[sources] = _read_manifests(sources)
    return loading


def _read_manifests(sources: Sources) -> _Loading:
    loading = _Loading({}, {}, ())
    tests: set[str] = set()
    paths = [path for path in sources.paths_named("composer.json") if "vendor" not in path.split("/")]
    for path in paths[:_MOST_MANIFESTS]:
        for section in ("autoload", "autoload-dev"):
            for kind, prefix, directory in _manifest_entries(sources.read(path), section):
                below = _inside_repository(posixpath.dirname(path), directory) or ""
                if kind in ("psr-4", "psr-0"):
                    prefixes = loading.psr4 if kind == "psr-4" else loading.psr0
                    prefixes.setdefault(prefix, []).append(below)
                if section == "autoload-dev" and below:
                    tests.add(below if below.endswith(".php") else below + "/")
    return _Loading(loading.psr4, loading.psr0, tuple(sorted(tests)))


def _manifest_entries(data: bytes | None, section: str) -> Iterator[tuple[str, str, str]]:
    """Kind, prefix and directory of each entry of a section. What is not as it should be is left out."""
    loading = json_object(data).get(section)
    count = 0
    for kind, entries in loading.items() if isinstance(loading, dict) else ():
        pairs = entries.items() if isinstance(entries, dict) else [("", entries)]
        for prefix, directories in pairs:
            for directory in directories if isinstance(directories, list) else [directories]:
                count += 1
                if isinstance(directory, str) and count <= _MOST_ENTRIES:
                    yield kind, prefix, directory or "."
