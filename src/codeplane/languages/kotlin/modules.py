"""How Kotlin names reach other files: packages, and types with names inside."""

from collections.abc import Sequence

from codeplane.core.places import Place
from codeplane.languages.foreign import ForeignImport
from codeplane.languages.java.modules import members_of
from codeplane.languages.modules import Sources

_FAMILY = "jvm"


def module_name(sources: Sources, path: str) -> str:
    """The package, which may have no name."""
    return sources.package(path)


def places(sources: Sources, path: str, imported: ForeignImport) -> Sequence[Place]:
    """The files of a package that have the name, or the type that has it inside."""
    name = imported.name.strip("`")
    if not imported.module:
        return [place for place in _package_places(sources, "") if sources.members(place, name)]
    return members_of(sources, imported.module.replace("`", ""), name)


def _package_places(sources: Sources, name: str) -> Sequence[Place]:
    return sources.declaring(name, _FAMILY)


def ambient(sources: Sources, place: Place) -> Sequence[Sequence[Place]]:
    """The other files of the package, those in Java too."""
    others = _package_places(sources, sources.package(place.path))
    return [[other for other in others if other.path != place.path]]


def submodule(sources: Sources, place: Place, name: str) -> Sequence[Place]:
    """Packages hold no packages: a name of two parts is not looked up part by part."""
    return []
