"""Files that others import: below any root; their names, where the package is the same or around it."""

import posixpath
from collections.abc import Sequence

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.foreign import ForeignImport
from codeplane.languages.modules import Sources


def module_name(sources: Sources, path: str) -> str:
    """The package, or the path without its ending."""
    return sources.package(path) or posixpath.splitext(path)[0]


def places(sources: Sources, path: str, imported: ForeignImport) -> Sequence[Place]:
    """The one file whose path ends with what is written."""
    text = posixpath.normpath(imported.module)
    if not imported.module or text.startswith(("/", "..")) or "\\" in text:
        return ()
    candidates = sources.paths_named(posixpath.basename(text))
    paths = [one for one in candidates if one == text or one.endswith(f"/{text}")]
    if len(paths) != 1:
        return ()
    own, other = sources.package(path), sources.package(paths[0])
    is_seen = own == other or own.startswith(f"{other}.") or not other
    return (Place(RepoPath(paths[0])),) if imported.name != "*" or is_seen else ()


def ambient(sources: Sources, place: Place) -> Sequence[Sequence[Place]]:
    """Nothing is seen that is not imported."""
    return ()


def submodule(sources: Sources, place: Place, name: str) -> Sequence[Place]:
    """A file has no files inside."""
    return ()
