"""Packages, source roots and relative imports."""

import sys
from collections.abc import Iterator, Sequence

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.slots import InterfaceSlot
from codeplane.languages.foreign import ForeignImport
from codeplane.languages.modules import Sources

_ENDINGS = (".py", ".pyi")
_PACKAGE = tuple(f"__init__{ending}" for ending in _ENDINGS)
# Python's own tests, which are not among its modules by name; a project's own are found before them.
_BEHIND = "test"
_MODULE = InterfaceSlot[tuple[str, ...], Sequence[Place]]("module by dotted name from a directory")
_ROOTS = InterfaceSlot[str, set[str]]("source roots around a directory")
_PROJECT = ("pyproject.toml", "setup.py", "setup.cfg")


def module_name(sources: Sources, path: str) -> str:
    """The dotted name under the source root that the file lies in."""
    stem = path.rsplit(".", 1)[0].removesuffix("/__init__")
    roots = _project_roots(sources, path) | ({_home_directory(sources, path)} - {path.rpartition("/")[0]})
    root = max((root for root in roots if _is_below(path, root)), key=len)
    return stem.removeprefix(root).strip("/").replace("/", ".") or "__init__"


def places(sources: Sources, path: str, imported: ForeignImport) -> Sequence[Place]:
    """The module, where all roots that the file may be run with agree on it."""
    module = imported.module
    if module.startswith("."):
        directory: str | None = path.rpartition("/")[0]
        for _ in range(len(module) - len(module.lstrip(".")) - 1):
            directory = directory.rpartition("/")[0] if directory else None
        if directory is None:
            return ()
        below = module.lstrip(".").split(".") if module.strip(".") else []
        return _module_below(sources, directory, below)
    parts = module.split(".")
    if imported.kind == "python_import" and not imported.name and imported.alias == parts[0]:
        parts = parts[:1]
    if parts[0] in sys.stdlib_module_names:
        return ()
    directory = path.rpartition("/")[0]
    return sources.once(_MODULE, (directory, *parts), lambda: _absolute_module(sources, directory, parts))


def candidates(sources: Sources, path: str, imported: ForeignImport) -> Sequence[Place]:
    """Every file that an import may bring: a stub and the source beside it, a module of any root."""
    module, directory = imported.module, path.rpartition("/")[0]
    dots = len(module) - len(module.lstrip("."))
    parts = [part for part in module.strip(".").split(".") if part]
    if not dots and (not parts or parts[0] in sys.stdlib_module_names):
        return ()
    for _ in range(dots - 1):
        directory = directory.rpartition("/")[0]
    roots = {directory} if dots else {directory, *_import_roots(sources, f"{directory}/")}
    names = [parts, [*parts, imported.name]] if imported.name not in ("", "*") else [parts]
    return sorted(
        {place for root in roots for one in names for place in _candidate_files(sources, root, one)}
    )


def _candidate_files(sources: Sources, directory: str, parts: Sequence[str]) -> Iterator[Place]:
    base = "/".join([*filter(None, [directory]), *parts])
    candidates = [f"{base}/{file}".lstrip("/") for file in _PACKAGE]
    candidates += [base + ending for ending in _ENDINGS] if parts else []
    yield from (Place(RepoPath(one)) for one in candidates if sources.exists(one))


def _absolute_module(sources: Sources, directory: str, parts: Sequence[str]) -> Sequence[Place]:
    """The module that all files of a directory mean by a dotted name."""
    roots = sources.once(_ROOTS, directory, lambda: _import_roots(sources, f"{directory}/"))
    if directory not in roots and _module_below(sources, directory, parts[:1]):
        return ()  # a file that is run as it stands means the one beside it
    if parts[0] == _BEHIND:
        roots = _project_roots(sources, f"{directory}/")
    places = {place for root in roots for place in _module_below(sources, root, parts)}
    files = {place for place in places if not place.path.endswith("/")}
    # A package with a file of its own goes before directories of the same name.
    return sorted(files or places) if len(files or places) == 1 else ()


def ambient(sources: Sources, place: Place) -> Sequence[Sequence[Place]]:
    """Nothing is seen without an import."""
    return ()


def submodule(sources: Sources, place: Place, name: str) -> Sequence[Place]:
    """A file or package in the directory of a package."""
    directory, _, file = place.path.rpartition("/")
    if place.definition >= 0 or (file and file not in _PACKAGE):
        return ()
    return _module_below(sources, directory, [name])


def _module_below(sources: Sources, directory: str, parts: Sequence[str]) -> Sequence[Place]:
    """The module at a dotted path below a directory."""
    if not all(parts) or any("/" in part for part in parts):
        return ()
    base = "/".join([*filter(None, [directory]), *parts])
    candidates = [f"{base}/{file}".lstrip("/") for file in _PACKAGE]
    if parts:
        candidates += [base + ending for ending in _ENDINGS]
    files = [candidate for candidate in candidates if sources.exists(candidate)]
    if len(files) == 1:
        return (Place(RepoPath(files[0])),)
    # A stub beside its source, or a module beside a package: which one counts is not said here.
    if files or not (base and sources.is_directory(base) and _has_python(sources, base)):
        return ()
    return (Place(RepoPath(f"{base}/")),)


def _has_python(sources: Sources, directory: str) -> bool:
    return any(name.endswith(_ENDINGS) for name in sources.names_in(directory))


def _import_roots(sources: Sources, path: str) -> set[str]:
    """The directories that imports may begin at."""
    return {_home_directory(sources, path)} | _project_roots(sources, path)


def _home_directory(sources: Sources, path: str) -> str:
    """The directory that the file's package lies in; its own where it is in none."""
    above = path.rpartition("/")[0]
    while above and any(sources.exists(f"{above}/{file}") for file in _PACKAGE):
        above = above.rpartition("/")[0]
    return above


def _project_roots(sources: Sources, path: str) -> set[str]:
    """The repository, the projects around a file, and `src` in each of these."""
    projects = {"", *(root for root in _directories_above(path) if _is_project(sources, root))}
    below = {f"{root}/src".lstrip("/") for root in projects}
    return projects | {root for root in below if sources.is_directory(root)}


def _is_project(sources: Sources, directory: str) -> bool:
    return any(sources.exists(f"{directory}/{name}".lstrip("/")) for name in _PROJECT)


def _directories_above(path: str) -> Sequence[str]:
    directories = []
    while "/" in path:
        path = path.rpartition("/")[0]
        directories.append(path)
    return directories


def _is_below(path: str, root: str) -> bool:
    return not root or path.startswith(root + "/")
