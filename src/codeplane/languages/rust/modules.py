"""How Rust finds modules: crates from `Cargo.toml`, and the files that `mod x;` declares below."""

import posixpath
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from codeplane.core.documents import Malformed, parse_toml
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.foreign import ForeignImport
from codeplane.languages.modules import Member, Sources

_ENDING = ".rs"
_TARGETS = ("bin", "test", "example", "bench")
_FOLDERS = ("src/bin", "tests", "examples", "benches")
_TABLES = ("dependencies", "dev-dependencies", "build-dependencies")
_DEEPEST = 64
_Manifests = dict[str, dict[str, Any]]
_MOST = 32  # ways in which one file is part of crates


class _Module(NamedTuple):
    """A file, and the modules in it around a place, outer ones first."""

    path: str
    inside: tuple[int, ...] = ()

    @property
    def place(self) -> Place:
        return Place(RepoPath(self.path), self.inside[-1] if self.inside else -1)


@dataclass
class _Package:
    directory: str
    name: str
    edition: str
    library: str | None
    roots: dict[str, str] = field(default_factory=dict)  # the first file of a crate → the crate's name
    # The name that a crate goes by here → the directory of its package, None where that depends.
    dependencies: dict[str, str | None] = field(default_factory=dict)


@dataclass
class _Known:
    """What was found out about one view."""

    packages: dict[str, _Package] = field(default_factory=dict)
    roots: dict[str, _Package] = field(default_factory=dict)
    declared: dict[str, list[Place]] = field(default_factory=dict)  # file → declarations with its path
    parents: dict[str, list[_Module]] = field(default_factory=dict)
    crates: dict[str, list[str]] = field(default_factory=dict)


_views: "WeakKeyDictionary[Sources, _Known]" = WeakKeyDictionary()


def module_name(sources: Sources, path: str) -> str:
    """The path of the module below its crate, where it is part of one crate alone."""
    crates = _known(sources)
    names: list[str] = []
    at = _Module(path)
    for _ in range(_DEEPEST):
        if at.path in crates.roots and not at.inside:
            return "::".join([crates.roots[at.path].roots[at.path], *reversed(names)])
        above = _modules_above(sources, at)
        if len(above) != 1:
            break
        names.append(_module_name(sources, at))
        at = above[0]
    return path.removesuffix(_ENDING)


def head(sources: Sources, path: str, imported: ForeignImport) -> Sequence[Place] | None:
    """`crate`, `self` and `super` lead to modules, and what nothing else is called by may be a crate."""
    module = imported.module
    here = _module_at(sources, path, imported.scope)
    first = module.split("::")[0]
    if imported.kind == "rust_extern_crate":
        return (
            [Place(RepoPath(root)) for root in _crates_of(sources, path)]
            if module == "self"
            else _extern_crate(here, module, sources)
        )
    if first == "crate":
        return [Place(RepoPath(root)) for root in _crates_of(sources, path)]
    if first in ("self", "super"):
        return _relative_places(sources, here, module.split("::"))
    packages = _packages_of(sources, path)
    is_old = any(package.edition == "2015" for package in packages)
    name = module.removeprefix("::")
    if is_old and (imported.kind == "rust_use" or module != name):
        return _at_root(sources, path, name)
    if module == name and _is_known(sources, here, name):
        return None
    return _extern_crate(here, name, sources) or (None if module == name else ())


def places(sources: Sources, path: str, imported: ForeignImport) -> Sequence[Place]:
    return head(sources, path, imported) or ()


def ambient(sources: Sources, place: Place) -> Sequence[Sequence[Place]]:
    """A module sees its own names alone."""
    del sources, place
    return ()


def submodule(sources: Sources, place: Place, name: str) -> Sequence[Place]:
    """The file that `mod name;` in a place means."""
    declarations = [
        item for item in sources.members(place, name) if item.kind == "module" and not item.has_body
    ]
    if len(declarations) != 1:
        return ()
    files = _declared_files(sources, place, declarations[0])
    return [Place(RepoPath(files[0]))] if len(files) == 1 else ()


def _known(sources: Sources) -> _Known:
    crates = _views.get(sources)
    if crates is None:
        crates = _views[sources] = _Known()
        manifests = _read_manifests(sources)
        for directory in manifests:
            _add_package(sources, crates, manifests, directory)
        _add_dependencies(crates, manifests)
        for path in [*sources.paths_named("lib.rs"), *sources.paths_named("main.rs")]:
            directory = posixpath.dirname(path)
            if not any(_is_below(directory, package) for package in crates.packages):
                name = path.rpartition("/")[2].removesuffix(_ENDING)
                crates.roots[path] = _Package(directory, name, "", None, {path: name})
        for place, scope, text in sources.placed("module"):
            directory = posixpath.dirname(place.path)
            file = (
                _inside_repository(directory, text)
                if sources.space(place.path, scope) == Place(place.path)
                else None
            )
            if file is not None:
                crates.declared.setdefault(file, []).append(place)
    return crates


def _is_below(directory: str, above: str) -> bool:
    return not above or directory == above or directory.startswith(above + "/")


def _inside_repository(directory: str, relative: str) -> str | None:
    """The path, or None where it leaves the repository."""
    result = posixpath.normpath(posixpath.join(directory, relative))
    if result.startswith(("/", "../")) or result == "..":
        return None
    return "" if result == "." else result


# Manifests


def _read_manifests(sources: Sources) -> _Manifests:
    """Directory → the manifest in it."""
    manifests = {}
    for path in sources.paths_named("Cargo.toml"):
        with suppress(Malformed):
            manifests[posixpath.dirname(path)] = parse_toml(
                (sources.read(path) or b"").decode("utf-8", "replace")
            )
    return manifests


def _nested_table(data: Any, *keys: str) -> dict[str, Any]:
    """A table inside of tables; empty where there is none."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def _text_in(table: dict[str, Any], key: str) -> str:
    value = table.get(key)
    return value if isinstance(value, str) else ""


def _add_package(sources: Sources, known: _Known, manifests: _Manifests, directory: str) -> None:
    data = manifests[directory]
    about = _nested_table(data, "package")
    name = _text_in(about, "name").replace("-", "_")
    if not name:
        return
    edition = about.get("edition", "2015")
    if not isinstance(edition, str):
        edition = _text_in(
            _nested_table(_workspace_of(manifests, directory)[1], "workspace", "package"), "edition"
        )
    library = _nested_table(data, "lib")
    root = _inside_repository(directory, _text_in(library, "path") or "src/lib.rs")
    package = _Package(directory, name, edition, root if root is not None and sources.exists(root) else None)
    if package.library:
        package.roots[package.library] = _text_in(library, "name").replace("-", "_") or name
    for path in _own_roots(sources, directory, data):
        stem = posixpath.basename(path).removesuffix(_ENDING)
        package.roots.setdefault(path, name if stem == "main" else stem.replace("-", "_"))
    known.packages[directory] = package
    known.roots |= dict.fromkeys(package.roots, package)


def _own_roots(sources: Sources, directory: str, data: dict[str, Any]) -> Iterator[str]:
    """The first files of the programs, tests, examples and benchmarks of a package."""
    build = _nested_table(data, "package").get("build", "build.rs")
    paths = [build] if isinstance(build, str) else []
    for kind in _TARGETS:
        targets = data.get(kind)
        paths += (
            [_text_in(item, "path") for item in targets if isinstance(item, dict)]
            if isinstance(targets, list)
            else []
        )
    roots = [_inside_repository(directory, path) for path in ["src/main.rs", *filter(None, paths)]]
    yield from (path for path in roots if path is not None and sources.exists(path))
    for folder in _FOLDERS:
        at = posixpath.join(directory, folder)
        yield from (posixpath.join(at, name) for name in sources.names_in(at) if name.endswith(_ENDING))
    folders = {posixpath.join(directory, folder) for folder in _FOLDERS}
    for path in sources.paths_named("main.rs"):
        if posixpath.dirname(posixpath.dirname(path)) in folders:
            yield path


def _workspace_of(manifests: _Manifests, directory: str) -> tuple[str, dict[str, Any]]:
    """The directory and the manifest of the workspace that a package belongs to."""
    directory_text = _text_in(_nested_table(manifests[directory], "package"), "workspace")
    if directory_text:
        root = _inside_repository(directory, directory_text)
        return (root, manifests.get(root, {})) if root is not None else (directory, {})
    for at in sorted(manifests, key=len, reverse=True):
        space = _nested_table(manifests[at], "workspace")
        if "workspace" not in manifests[at] or not _is_below(directory, at):
            continue
        below = posixpath.relpath(directory or ".", at or ".")
        exclusions = space.get("exclude", [])
        if (
            at != directory
            and isinstance(exclusions, list)
            and any(isinstance(one, str) and (below == one or fnmatchcase(below, one)) for one in exclusions)
        ):
            continue
        return at, manifests[at]
    return directory, {}


def _add_dependencies(known: _Known, manifests: _Manifests) -> None:
    for directory, package in known.packages.items():
        data = manifests[directory]
        tables = [_nested_table(data, name) for name in _TABLES]
        tables += [
            _nested_table(target, name)
            for target in _nested_table(data, "target").values()
            for name in _TABLES
        ]
        space, root = _workspace_of(manifests, directory)
        for table in tables:
            for key, value in table.items():
                about, base = value if isinstance(value, dict) else {}, directory
                if about.get("workspace") is True:
                    about, base = _nested_table(root, "workspace", "dependencies", key), space
                where = _inside_repository(base, _text_in(about, "path")) if _text_in(about, "path") else None
                crate = known.packages.get(where) if where is not None else None
                name = key.replace("-", "_")
                if crate is not None and crate.library and "package" not in about:
                    name = crate.roots[crate.library]
                is_new = name not in package.dependencies
                at = crate.directory if crate is not None else None
                package.dependencies[name] = at if is_new or package.dependencies[name] == at else None


# Modules


def _module_at(sources: Sources, path: str, scope: int) -> _Module:
    around = [item.place.definition for item in sources.spaces(sources.space(path, scope))]
    return _Module(path, tuple(reversed(around)))


def _module_name(sources: Sources, module: _Module) -> str:
    if module.inside:
        return sources.spaces(module.place)[0].name
    places = _known(sources).declared.get(module.path)
    if places:
        return sources.spaces(places[0])[0].name
    base = posixpath.basename(module.path).removesuffix(_ENDING)
    return base if base != "mod" else posixpath.basename(posixpath.dirname(module.path))


def _modules_above(sources: Sources, module: _Module) -> list[_Module]:
    """The modules that a module is declared in."""
    if module.inside:
        return [_Module(module.path, module.inside[:-1])]
    parents = _known(sources).parents
    if module.path not in parents:
        parents[module.path] = _declaring_modules(sources, module.path)
    return parents[module.path]


def _declaring_modules(sources: Sources, path: str) -> list[_Module]:
    directory, _, base = path.rpartition("/")
    name = base.removesuffix(_ENDING)
    if base == "mod.rs":
        directory, _, name = directory.rpartition("/")
    modules = [_Module(place.path) for place in _known(sources).declared.get(path, ())]
    for owner in _folder_owners(sources, directory):
        for item in sources.members(owner.place, name):
            is_declared = item.kind == "module" and not item.has_body and not item.annotation
            if is_declared and path in _declared_files(sources, owner.place, item):
                modules.append(owner)
    return list(dict.fromkeys(one for one in modules if one.path != path))[:_MOST]


def _folder_owners(sources: Sources, directory: str) -> list[_Module]:
    """The modules whose submodules are in a directory: of files, and of modules inside them."""
    parts = directory.split("/") if directory else []
    modules: list[_Module] = []
    for at in range(max(len(parts) - _DEEPEST, 0), len(parts) + 1):
        below = [
            _Module(owner.path, (*owner.inside, item.place.definition))
            for owner in modules
            for item in sources.members(owner.place, parts[at - 1])
            if item.kind == "module" and item.has_body
        ]
        folder = "/".join(parts[:at])
        files = [posixpath.join(folder, name) for name in sources.names_in(folder) if name.endswith(_ENDING)]
        files += [folder + _ENDING] if sources.exists(folder + _ENDING) else []
        modules = below + [_Module(file) for file in files if folder in _submodule_folders(sources, file)]
    return modules


def _submodule_folders(sources: Sources, path: str) -> list[str]:
    """Where the submodules of a file are: beside it where it begins a crate or says where it is itself."""
    crates = _known(sources)
    directory, _, base = path.rpartition("/")
    if base == "mod.rs" or path in crates.roots:
        return [directory]
    folders = [directory] if path in crates.declared else []
    return [*folders, path.removesuffix(_ENDING)]


def _declared_files(sources: Sources, place: Place, declared: Member) -> list[str]:
    """The files that a declaration in a place may mean."""
    if declared.annotation:
        is_outer = place.definition < 0 and declared.annotation.endswith(_ENDING)
        file = _inside_repository(posixpath.dirname(place.path), declared.annotation) if is_outer else None
        return [file] if file is not None and sources.exists(file) else []
    names = [item.name for item in reversed(sources.spaces(place))]
    candidates = []
    for folder in _submodule_folders(sources, place.path):
        base = posixpath.join(folder, *names, declared.name)
        candidates += [base + _ENDING, base + "/mod.rs"]
    return [path for path in dict.fromkeys(candidates) if sources.exists(path)]


def _crates_of(sources: Sources, path: str) -> list[str]:
    """The first files of the crates that a file is part of."""
    cache = _known(sources)
    roots = cache.crates.get(path)
    if roots is None:
        closure, waiting = {path}, [path]
        for _ in range(_DEEPEST * _MOST):
            if not waiting:
                break
            for module in _modules_above(sources, _Module(waiting.pop())):
                if module.path not in closure:
                    closure.add(module.path)
                    waiting.append(module.path)
        roots = cache.crates[path] = sorted(one for one in closure if one in cache.roots)
    return roots


def _packages_of(sources: Sources, path: str) -> list[_Package]:
    return [_known(sources).roots[root] for root in _crates_of(sources, path)]


def _relative_places(sources: Sources, here: _Module, words: list[str]) -> list[Place]:
    at = [here]
    for word in words:
        if word == "super":
            at = list(dict.fromkeys(above for one in at for above in _modules_above(sources, one)))
    return sorted({one.place for one in at})


def _is_known(sources: Sources, here: _Module, name: str) -> bool:
    """Whether a name means something in a module, whatever that is."""
    if sources.members(here.place, name):
        return True
    return any(
        item.alias == name and item.module != name and sources.space(here.path, item.scope) == here.place
        for item in sources.imports(here.path)
    )


def _at_root(sources: Sources, path: str, name: str) -> list[Place]:
    """In the first edition, what is used is a name of the crate's first file."""
    places: set[Place] = set()
    for root in _crates_of(sources, path):
        inside = [item.place for item in sources.members(Place(RepoPath(root)), name)]
        files = submodule(sources, Place(RepoPath(root)), name)
        places |= set(files or inside or _extern_crate(_Module(root), name, sources))
    return sorted(places)


def _extern_crate(here: _Module, name: str, sources: Sources) -> list[Place]:
    """The first file of another crate, where all crates that the file is part of mean the same."""
    crates = _known(sources)
    roots: set[str | None] = set()
    for root in _crates_of(sources, here.path):
        package = crates.roots[root]
        if package.library and root != package.library and package.roots[package.library] == name:
            roots.add(package.library)
        else:
            where = package.dependencies.get(name)
            roots.add(crates.packages[where].library if where is not None else None)
    return [Place(RepoPath(library)) for library in roots if library is not None] if len(roots) == 1 else []
