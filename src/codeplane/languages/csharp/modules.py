"""How C# names reach other files: namespaces around and `using`."""

from collections.abc import Sequence

from codeplane.core.places import Place
from codeplane.languages.foreign import ForeignImport
from codeplane.languages.modules import Sources

_FAMILY = "dotnet"
_TYPES = ("class", "interface", "struct", "enum", "type")
_DEEPEST = 30  # parts of a name that are followed


def module_name(sources: Sources, path: str) -> str:
    """The namespace of the file as a whole; most files have it as a block instead."""
    return sources.package(path)


def places(sources: Sources, path: str, imported: ForeignImport) -> Sequence[Place]:
    """All parts of a namespace, or the type whose members or nested types are taken."""
    module = imported.module
    if imported.kind == "csharp_using":
        return _namespace_places(sources, module)
    if imported.kind == "csharp_static":
        before, _, name = module.rpartition(".")
        return [inner for place in _places_of(sources, before) for inner in _types_in(sources, place, name)]
    target = f"{module}.{imported.name}" if module else imported.name
    if not imported.name:
        return _namespace_places(sources, target)
    return [place for place in _places_of(sources, module) if sources.members(place, imported.name)]


def _namespace_places(sources: Sources, name: str) -> Sequence[Place]:
    return sources.declaring(name, _FAMILY)


def _places_of(sources: Sources, dotted: str) -> Sequence[Place]:
    """The namespace or type of a dotted name."""
    parts = dotted.split(".") if dotted else []
    for count in range(min(len(parts), _DEEPEST), -1, -1):
        places = list(_namespace_places(sources, ".".join(parts[:count])))
        for part in parts[count:]:
            places = [inner for place in places for inner in _types_in(sources, place, part)]
        if places:
            return places
    return []


def _types_in(sources: Sources, place: Place, name: str) -> list[Place]:
    return [member.place for member in sources.members(place, name) if member.kind in _TYPES]


def ambient(sources: Sources, place: Place) -> Sequence[Sequence[Place]]:
    """The other parts of the namespace, then of those around it, then what is in none."""
    parts = sources.namespace(place).split(".")[:_DEEPEST]
    names = [".".join(parts[:count]) for count in range(len(parts), 0, -1)]
    names = [name for name in names if name] + [""]
    return [[other for other in _namespace_places(sources, name) if other != place] for name in names]


def submodule(sources: Sources, place: Place, name: str) -> Sequence[Place]:
    """The namespace of this name inside a namespace."""
    around = sources.namespace(place)
    return _namespace_places(sources, f"{around}.{name}" if around else name)
