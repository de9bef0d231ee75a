"""Whether a module is ever used as a value: then what it holds may be reached through any variable."""

from collections.abc import Iterator
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.index import Snapshot
from codeplane.languages.facts import Role
from codeplane.languages.modules import Place
from codeplane.refactor.family import Family
from codeplane.refactor.text import Lines

_MOST_FILES: Final = 400
_MEMBER: Final = (b".", b"?.", b"::", b"->")


def is_reached_by_value(snapshot: Snapshot, family: Family) -> bool:
    """Whether some variable may hold a module, or namespace, that shows the definitions of a family."""
    sources = snapshot.linker.sources
    modules = _showing(snapshot, family)
    parts = {part for path in modules for part in _names(snapshot, path)}
    importing = sources.importing(parts)
    if len(importing) > _MOST_FILES or _is_made_at_run_time(snapshot, parts):
        return True
    return any(_leaks(snapshot, path, modules) for path in sorted(importing))


def _showing(snapshot: Snapshot, family: Family) -> set[str]:
    """The files that show the name: where it is defined, and where it is imported for others."""
    paths = {place.path for place in family.places}
    for place in family.places:
        for ref in snapshot.references.to(place):
            if place in ref.target and ref.role in (Role.IMPORT, Role.EXPORT):
                paths.add(ref.path)
    return paths


def _names(snapshot: Snapshot, path: str) -> set[str]:
    """The words by which imports may name a file."""
    module = snapshot.identities.module(path)
    parts = module.replace("/", ".").split(".")
    stem = path.rsplit("/", 1)[-1].split(".", 1)[0]
    return {part for part in (parts[-1], stem, path.rsplit("/", 2)[-2] if "/" in path else "") if part}


def _is_made_at_run_time(snapshot: Snapshot, parts: set[str]) -> bool:
    """Whether a module is imported by a text that is made at run time, or that names one of these."""
    return bool(parts) and bool(snapshot.linker.sources.importing_by_text())


def _leaks(snapshot: Snapshot, path: str, modules: set[str]) -> bool:
    facts = snapshot.linker.sources.facts(path)
    if facts is None:
        return False
    local = [
        item.alias or item.name
        for at, item in enumerate(facts.imports)
        if item.name != "*" and _is_module(snapshot.linker.imported(path, at), modules)
    ]
    if not local:
        return False
    lines = Lines(snapshot.source(RepoPath(path)))
    return any(stands_alone(lines, use) for name in local for use in _uses(snapshot, path, name, modules))


def _is_module(target: tuple[Place, ...], modules: set[str]) -> bool:
    return any(place.definition < 0 and place.path in modules for place in target)


def _uses(snapshot: Snapshot, path: str, name: str, modules: set[str]) -> Iterator[tuple[int, int, int]]:
    """Line, column and length of what means one of the modules in a file, imports aside."""
    size = len(name.encode("utf-8", "surrogateescape"))
    for ref in snapshot.references.named(name):
        if ref.path == path and ref.role is not Role.IMPORT and _is_module(ref.target, modules):
            yield ref.line, ref.column, size


def stands_alone(lines: Lines, use: tuple[int, int, int]) -> bool:
    """Whether a name, by line, column and length, does not stand before one of its members."""
    line, column, size = use
    rest = lines.data[lines.offset(line, column) + size :][:40].lstrip()
    return not rest.startswith(_MEMBER)
