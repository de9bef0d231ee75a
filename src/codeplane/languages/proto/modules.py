"""Files that others import: below any root; their names, where the package is the same or around it."""

import posixpath
from collections.abc import Sequence

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.facts import Import
from codeplane.languages.modules import Sources


def module_name(sources: Sources, path: str) -> str:
    """The package, or the path without its ending."""
    return sources.package(path) or posixpath.splitext(path)[0]


def places(sources: Sources, path: str, imported: Import) -> Sequence[Place]:
    """The one file whose path ends with what is written."""
    written = posixpath.normpath(imported.module)
    if not imported.module or written.startswith(("/", "..")) or "\\" in written:
        return ()
    named = sources.paths_named(posixpath.basename(written))
    found = [one for one in named if one == written or one.endswith(f"/{written}")]
    if len(found) != 1:
        return ()
    own, other = sources.package(path), sources.package(found[0])
    is_seen = own == other or own.startswith(f"{other}.") or not other
    return (Place(RepoPath(found[0])),) if imported.name != "*" or is_seen else ()


def ambient(sources: Sources, place: Place) -> Sequence[Sequence[Place]]:
    """Nothing is seen that is not imported."""
    return ()


def submodule(sources: Sources, place: Place, name: str) -> Sequence[Place]:
    """A file has no files inside."""
    return ()
