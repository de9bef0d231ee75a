"""A schema may be in several files of one directory, which see each other."""

import posixpath
from collections.abc import Sequence

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.foreign import ForeignImport
from codeplane.languages.modules import Sources


def module_name(_sources: Sources, path: str) -> str:
    """The path without its ending."""
    return posixpath.splitext(path)[0]


def places(_sources: Sources, _path: str, _imported: ForeignImport) -> Sequence[Place]:
    """Nothing is imported."""
    return ()


def ambient(sources: Sources, place: Place) -> Sequence[Sequence[Place]]:
    """The other files of the directory."""
    directory = posixpath.dirname(place.path)
    beside = [posixpath.join(directory, name) for name in sources.names_in(directory)]
    return [[Place(RepoPath(one)) for one in beside if one.endswith(".prisma") and one != place.path]]


def submodule(_sources: Sources, _place: Place, _name: str) -> Sequence[Place]:
    """A file has no files inside."""
    return ()
