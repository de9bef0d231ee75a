"""How Go finds packages: a module's path, the directory below it, and all files of that directory."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.foreign import ForeignImport
from codeplane.languages.modules import Sources

_TEST = "_test.go"
# A file that no build takes: a program of its own, run by name.
_IGNORED = re.compile(rb"^//(?:go:build|\s*\+build)\s+ignore\s*$", re.MULTILINE)
_CLAUSE = re.compile(rb"^package\s", re.MULTILINE)
_MOST_LINES = 20_000


@dataclass(frozen=True)
class _Module:
    path: str
    directory: str
    replacements: dict[str, str] = field(default_factory=dict)  # module path → directory in the repository


_modules: "WeakKeyDictionary[Sources, list[_Module]]" = WeakKeyDictionary()
_packages: "WeakKeyDictionary[Sources, dict[str, list[tuple[str, str]]]]" = WeakKeyDictionary()


def module_name(sources: Sources, path: str) -> str:
    """The import path of the file's package."""
    directory = posixpath.dirname(path)
    own = _own_module(sources, directory)
    if own is None:
        return path.removesuffix(".go")
    below = posixpath.relpath(directory or ".", own.directory or ".")
    return own.path if below == "." else f"{own.path}/{below}"


def places(sources: Sources, path: str, imported: ForeignImport) -> Sequence[Place]:
    directory = _package_directory(sources, posixpath.dirname(path), imported.module)
    if directory is None or not _may_import(posixpath.dirname(path), directory):
        return ()
    files = [(name, clause) for name, clause in _built_files(sources, directory) if not name.endswith(_TEST)]
    clauses = {clause for _, clause in files} - {"", "documentation"}
    if len(clauses) > 1:
        clauses.discard("main")
    if len(clauses) != 1:
        return ()
    package = clauses.pop()
    # Without an alias the local name is the package's own, which the path alone does not tell.
    if imported.kind == "go_import" and imported.alias != package:
        return ()
    return [Place(RepoPath(name)) for name, clause in files if clause == package]


def ambient(sources: Sources, place: Place) -> Sequence[Sequence[Place]]:
    """The other files of the package; tests see the files that they test, not the other way round."""
    files = dict(_built_files(sources, posixpath.dirname(place.path)))
    package = files.get(place.path, "")
    is_test = place.path.endswith(_TEST)
    places = [
        Place(RepoPath(name))
        for name, clause in files.items()
        if clause == package and name != place.path and (is_test or not name.endswith(_TEST))
    ]
    return [places] if package and places else []


def submodule(sources: Sources, place: Place, name: str) -> Sequence[Place]:
    """A package has none."""
    del sources, place, name
    return ()


def _may_import(importer: str, directory: str) -> bool:
    """What is below `internal` is for the tree that `internal` stands in."""
    parts = directory.split("/")
    if "internal" not in parts:
        return True
    at = len(parts) - 1 - parts[::-1].index("internal")
    owner = "/".join(parts[:at])
    return not owner or importer == owner or importer.startswith(owner + "/")


def _package_directory(sources: Sources, importer: str, module: str) -> str | None:
    own = _own_module(sources, importer)
    if own is None:
        return None
    directories = {own.path: own.directory}
    if own.directory in (members := _workspace_members(sources, own.directory)):
        directories |= {one.path: one.directory for one in _all_modules(sources) if one.directory in members}
    elif not sources.exists(posixpath.join(own.directory, "vendor/modules.txt")):
        directories |= own.replacements
    best = max(
        (path for path in directories if module == path or module.startswith(path + "/")), key=len, default=""
    )
    if not best:
        return None
    candidate = _inside_repository(directories[best], "./" + module[len(best) :].lstrip("/"))
    nearest = _own_module(sources, candidate) if candidate is not None else None
    # A directory below with a `go.mod` of its own is another module.
    return candidate if nearest is not None and nearest.directory == directories[best] else None


def _inside_repository(directory: str, relative: str) -> str | None:
    """The path of a directory, or None where it leaves the repository."""
    path = posixpath.normpath(posixpath.join(directory, relative))
    if path.startswith(("/", "../")) or path == "..":
        return None
    return "" if path == "." else path


def _own_module(sources: Sources, directory: str) -> _Module | None:
    """The module that a directory belongs to."""
    above = [
        one
        for one in _all_modules(sources)
        if not one.directory or directory == one.directory or directory.startswith(one.directory + "/")
    ]
    return max(above, key=lambda one: len(one.directory), default=None)


def _all_modules(sources: Sources) -> list[_Module]:
    modules = _modules.get(sources)
    if modules is None:
        paths = [path for path in sources.paths_named("go.mod") if "vendor" not in path.split("/")]
        modules = _modules[sources] = [one for one in (_read_module(sources, path) for path in paths) if one]
    return modules


def _read_module(sources: Sources, path: str) -> _Module | None:
    name = ""
    directory = posixpath.dirname(path)
    replacements = {}
    for verb, words in _read_directives(sources.read(path)):
        if verb == "module" and len(words) == 1:
            name = words[0]
        elif verb == "replace" and "=>" in words:
            old, new = words[0], words[words.index("=>") + 1 :]
            local = (
                _inside_repository(directory, new[0])
                if len(new) == 1 and new[0].startswith(("./", "../"))
                else None
            )
            if local is not None:
                replacements[old] = local
    return _Module(name, directory, replacements) if name else None


def _workspace_members(sources: Sources, directory: str) -> set[str]:
    """The directories that the nearest `go.work` above uses."""
    works = [posixpath.dirname(path) for path in sources.paths_named("go.work")]
    above = [work for work in works if not work or directory == work or directory.startswith(work + "/")]
    if not above:
        return set()
    work = max(above, key=len)
    members = [
        _inside_repository(work, words[0])
        for verb, words in _read_directives(sources.read(posixpath.join(work, "go.work")))
        if verb == "use" and words
    ]
    return {one for one in members if one is not None}


def _read_directives(data: bytes | None) -> Iterator[tuple[str, list[str]]]:
    """The lines of `go.mod` and `go.work`: the verb and what follows, blocks taken apart."""
    block = ""
    for line in (data or b"").decode("utf-8", "replace").split("\n")[:_MOST_LINES]:
        words = [word.strip('"`') for word in line.partition("//")[0].split()]
        if block and words == [")"]:
            block = ""
        elif block and words:
            yield block, words
        elif len(words) == 2 and words[1] == "(":
            block = words[0]
        elif words:
            yield words[0], words[1:]


def _built_files(sources: Sources, directory: str) -> list[tuple[str, str]]:
    """The Go files of a directory that some build takes, each with its package."""
    cache = _packages.setdefault(sources, {})
    files = cache.get(directory)
    if files is None:
        paths = [
            posixpath.join(directory, name) for name in sources.names_in(directory) if name.endswith(".go")
        ]
        candidates = [path for path in paths if not path.rpartition("/")[2].startswith(("_", "."))]
        files = cache[directory] = [
            (path, sources.package(path)) for path in candidates if not _is_ignored(sources.read(path) or b"")
        ]
    return files


def _is_ignored(data: bytes) -> bool:
    clause = _CLAUSE.search(data)
    return bool(_IGNORED.search(data, 0, clause.start() if clause else 0))
