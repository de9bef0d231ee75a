"""What leads to files from outside of them: imports, and the names of what they define."""

from collections.abc import Collection, Iterator
from typing import Final

from codeplane.core.errors import NotFound
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.graph.import_links import links_of
from codeplane.graph.places import around
from codeplane.graph.references import Kind, Reference, kind_of
from codeplane.names import Snapshot
from codeplane.names.meaning import known

_MOST_DEFINITIONS: Final = 400
_CERTAIN: Final = (Tier.PROVEN, Tier.STRONG)


def path_of(snapshot: Snapshot, target: str) -> RepoPath | None:
    """The file or directory that the target is; None where it may be a symbol."""
    inner = target.removeprefix("./").rstrip("/")
    if snapshot.exists(inner) or (snapshot.is_directory(inner) and "/" in target):
        return RepoPath(inner)
    try:
        snapshot.symbol(target)
    except NotFound:
        if snapshot.is_directory(inner):
            return RepoPath(inner)
        raise
    return None


def files_of(snapshot: Snapshot, path: RepoPath) -> list[RepoPath]:
    """A file, or the files in a directory."""
    blobs = snapshot.layout.blobs
    if path in blobs:
        return [path]
    return sorted(RepoPath(one) for one in blobs if one.startswith(f"{path}/"))


def uses_of_files(snapshot: Snapshot, files: Collection[RepoPath]) -> list[Reference]:
    """The places outside of some files that are proven to mean them or what they define, in order."""
    inside = frozenset(files)
    references = {*_imports(snapshot, inside), *_names(snapshot, inside)}
    return sorted(references, key=lambda one: (one.path, one.line, one.column))


def _imports(snapshot: Snapshot, inside: frozenset[RepoPath]) -> Iterator[Reference]:
    importers = links_of(snapshot).importers
    for path in sorted({one for file in inside for one in importers.get(file, ())} - inside):
        for at, item in enumerate(snapshot.imports(path)):
            places = {place.path for place in known(snapshot.imported(path, at))}
            if not item.name:
                places |= {place.path for place in snapshot.module(path, item.module)}
            if not places.isdisjoint(inside):
                here = Place(RepoPath(path))
                yield Reference(RepoPath(path), item.line, item.column, Kind.IMPORT, Tier.STRONG, here, "")


def _names(snapshot: Snapshot, inside: frozenset[RepoPath]) -> Iterator[Reference]:
    left = _MOST_DEFINITIONS
    for path in sorted(inside):
        facts = snapshot.facts(path)
        for at, item in enumerate(facts.definitions if facts is not None else ()):
            if item.parent >= 0 or left <= 0:
                continue
            left -= 1
            place = Place(path, at)
            for ref in snapshot.structural_references.to(place):
                if ref.path not in inside and place in ref.target and ref.tier in _CERTAIN:
                    kind, where = kind_of(ref, item.kind), around(snapshot, ref)
                    yield Reference(ref.path, ref.line, ref.column, kind, ref.tier, where, ref.receiver)
