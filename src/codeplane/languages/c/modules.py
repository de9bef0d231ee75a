"""How C finds what a file includes: beside the including file, or by the one path in the repository that ends
like it.
"""

import posixpath
from collections.abc import Sequence

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.foreign import ForeignImport
from codeplane.languages.modules import Sources

_ROOTS = ("include", "src")


def module_name(_sources: Sources, path: str) -> str:
    """The path without its ending: C has no names for files."""
    return posixpath.splitext(path)[0]


def places(sources: Sources, path: str, imported: ForeignImport) -> Sequence[Place]:
    is_system = imported.module.startswith("<")
    text = imported.module.strip("<>")
    if not text or text.startswith("/") or "\\" in text:
        return ()
    if not is_system:
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), text))
        if not beside.startswith("../") and sources.exists(beside):
            return [Place(RepoPath(beside))]
    header = _by_suffix(sources, posixpath.normpath(text))
    return [Place(RepoPath(header))] if header else []


def _by_suffix(sources: Sources, written: str) -> str:
    """The one file whose path ends with what is written; of several, the one below a usual root."""
    if written.startswith("../"):
        return ""
    name = posixpath.basename(written)
    paths = [one for one in sources.paths_named(name) if one == written or one.endswith("/" + written)]
    at_roots = [one for one in paths if one in {f"{root}/{written}" for root in _ROOTS} | {written}]
    return paths[0] if len(paths) == 1 else at_roots[0] if len(at_roots) == 1 else ""


def ambient(_sources: Sources, _place: Place) -> Sequence[Sequence[Place]]:
    """Nothing is seen that is not included."""
    return ()


def submodule(_sources: Sources, _place: Place, _name: str) -> Sequence[Place]:
    """A file has no files inside."""
    return ()
