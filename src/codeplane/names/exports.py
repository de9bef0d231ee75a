"""What files and units offer to others, and what they only pass on."""

import hashlib
from collections.abc import Iterator
from typing import Literal, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.names.imports import ImportResolver
from codeplane.names.meaning import Target, known

Mode = Literal["REEXPORT_ALL", "EXPLICIT_NAMES", "ALIAS_MAP"]


class ExportEntry(NamedTuple):
    """A name that a file exports, and the definition or module that it is, where that is known."""

    path: RepoPath
    name: str
    target: Target
    certain: bool
    evidence: str


class ExportThunk(NamedTuple):
    """Names that a file takes from a module and exports again."""

    path: RepoPath
    module: str
    target: Target
    mode: Mode
    names: tuple[tuple[str, str], ...]  # the name there, the name here; none for all
    evidence: str


class Surfaces:
    """The exports of one view."""

    def __init__(self, linker: ImportResolver) -> None:
        self._linker = linker
        self._sources = linker.sources

    def paths_of(self, unit: str) -> list[str]:
        """The files of a unit, in order."""
        paths = sorted(self._sources.memo.layout.blobs)
        return [path for path in paths if self._sources.unit_of(path) == unit]

    def hash_of(self, unit: str) -> str:
        """Changes whenever something changes that other units can see of this one."""
        seen = hashlib.sha256()
        for path in self.paths_of(unit):
            shown = f"{path}\0{self._sources.interface(path)}\0"
            seen.update(shown.encode("utf-8", "surrogateescape"))
        return seen.hexdigest()[:16]

    def entries(self, path: RepoPath) -> Iterator[ExportEntry]:
        """The names that a file says it exports, in order; then what it passes on by name."""
        facts = self._sources.facts(path)
        if facts is None:
            return
        for item in facts.exports:
            target = known(self._linker.lookup((Place(path),), item.name))
            yield ExportEntry(path, item.name, target, item.certain, item.evidence)
        said = {item.name for item in facts.exports}
        for at, imported in enumerate(facts.imports):
            name = imported.alias or imported.name
            if imported.reexport and name not in ("", "*", *said):
                target = known(self._linker.imported(path, at))
                yield ExportEntry(path, name, target, imported.certain, imported.kind)

    def thunks(self, path: RepoPath) -> Iterator[ExportThunk]:
        """What a file passes on from other modules, one for each module and statement form."""
        facts = self._sources.facts(path)
        if facts is None:
            return
        is_shown = self._linker.spec(facts).surface == "bound"
        groups: dict[tuple[str, str, Mode], list[tuple[str, str]]] = {}
        for item in facts.imports:
            passes = item.reexport or (is_shown and item.scope == 0 and item.name != "")
            if passes and item.name == "*":
                groups.setdefault((item.module, item.kind, "REEXPORT_ALL"), [])
            elif passes:
                here = item.alias or item.name
                mode: Mode = "EXPLICIT_NAMES" if here == item.name else "ALIAS_MAP"
                groups.setdefault((item.module, item.kind, mode), []).append((item.name, here))
        for (module, kind, mode), names in groups.items():
            target = known(self._linker.named_module(path, module, kind))
            yield ExportThunk(path, module, target, mode, tuple(names), kind)
