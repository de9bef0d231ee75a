"""How Ruby finds files: relative to the one that asks, and below the `lib` directories of gems."""

import posixpath
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.foreign import ForeignImport
from codeplane.languages.modules import Sources

_roots: "WeakKeyDictionary[Sources, tuple[str, ...]]" = WeakKeyDictionary()


def module_name(sources: Sources, path: str) -> str:
    """The path below the directory that it is required from, without its ending."""
    roots = [root for root in _load_path(sources) if path.startswith(f"{root}/" if root else "")]
    root = max(roots, key=len, default="")
    return path.removeprefix(root).lstrip("/").rsplit(".", 1)[0]


def places(sources: Sources, path: str, imported: ForeignImport) -> Sequence[Place]:
    """The one file that is meant; several below different roots are not certain."""
    module = imported.module
    if module.startswith("./"):
        candidates = [_inside_repository(posixpath.dirname(path), module)]
    elif module.startswith("/"):
        return ()
    else:
        candidates = [_inside_repository(root, module) for root in _load_path(sources)]
    files = {one for name in candidates if name for one in (name, f"{name}.rb") if sources.exists(one)}
    return [Place(RepoPath(one)) for one in files if one.endswith(".rb")] if len(files) == 1 else []


def ambient(sources: Sources, place: Place) -> Sequence[Sequence[Place]]:
    """What is seen without a `require` depends on what else is loaded."""
    del sources, place
    return ()


def submodule(sources: Sources, place: Place, name: str) -> Sequence[Place]:
    """Modules are opened, not found in files by name."""
    del sources, place, name
    return ()


def _load_path(sources: Sources) -> tuple[str, ...]:
    """The `lib` directories beside gem specifications, and that of the repository."""
    path = _roots.get(sources)
    if path is None:
        directories = {"", *_gem_directories(sources)}
        roots = [f"{directory}/lib".lstrip("/") for directory in directories]
        path = _roots[sources] = tuple(sorted(root for root in roots if sources.is_directory(root)))
    return path


def _gem_directories(sources: Sources) -> list[str]:
    """Directories with a gem specification, which stands beside a Gemfile or a Rakefile."""
    beside = {posixpath.dirname(path) for path in sources.paths_named("Gemfile")}
    beside |= {posixpath.dirname(path) for path in sources.paths_named("Rakefile")}
    return [place for place in beside if any(name.endswith(".gemspec") for name in sources.names_in(place))]


def _inside_repository(directory: str, relative: str) -> str | None:
    """The path of a file, or None where it leaves the repository."""
    result = posixpath.normpath(posixpath.join(directory, relative))
    return None if result.startswith(("/", "../")) or result in ("..", ".") else result
