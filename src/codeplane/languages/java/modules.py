"""How Java names reach other files: packages, nested types and static members."""

from collections.abc import Sequence

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.foreign import ForeignImport
from codeplane.languages.modules import Sources

_FAMILY = "jvm"
_TYPES = ("class", "interface", "enum", "object", "trait", "type")
_DEEPEST = 30  # parts of a name that are followed


def module_name(sources: Sources, path: str) -> str:
    """The package, which may have no name."""
    return sources.package(path)


def places(sources: Sources, path: str, imported: ForeignImport) -> Sequence[Place]:
    """The files of a package that have the name, or the type whose member it is."""
    if not imported.module:
        return [place for place in _unnamed_package(sources, path) if sources.members(place, imported.name)]
    return members_of(sources, imported.module, imported.name)


def members_of(sources: Sources, module: str, name: str) -> list[Place]:
    """The places that a dotted name of a package or type means and that have the name in them."""
    parts = module.split(".")
    for count in range(min(len(parts), _DEEPEST), 0, -1):
        places = list(sources.declaring(".".join(parts[:count]), _FAMILY))
        for part in parts[count:]:
            places = [inner for place in places for inner in _types_in(sources, place, part)]
        if name != "*":
            places = [place for place in places if sources.members(place, name)]
        if places:
            return places
    return []


def _types_in(sources: Sources, place: Place, name: str) -> list[Place]:
    return [member.place for member in sources.members(place, name) if member.kind in _TYPES]


def ambient(sources: Sources, place: Place) -> Sequence[Sequence[Place]]:
    """The other files of the package. Of other languages only what is imported is seen."""
    package = sources.package(place.path)
    if not package:
        return [[other for other in _unnamed_package(sources, place.path) if other.path != place.path]]
    files = sources.declaring(package, _FAMILY)
    return [[other for other in files if other.path != place.path and other.path.endswith(".java")]]


def _unnamed_package(sources: Sources, path: str) -> list[Place]:
    """The files of the package without a name in the same directory."""
    directory = path.rpartition("/")[0]
    start = f"{directory}/" if directory else ""
    paths = [start + name for name in sources.names_in(directory) if name.endswith(".java")]
    return [Place(RepoPath(path_of)) for path_of in paths if not sources.package(path_of)]


def submodule(sources: Sources, place: Place, name: str) -> Sequence[Place]:
    """Packages hold no packages: a name of two parts is not looked up part by part."""
    return []
