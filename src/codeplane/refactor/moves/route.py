"""Files that go to other paths: which ones, what is against it, and the view before and after."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.jail import shown
from codeplane.languages.facts import Role
from codeplane.languages.moving import Moving
from codeplane.names import Codebase, Snapshot
from codeplane.refactor.plan import Problem

_MOST_FILES: Final = 5_000


@dataclass(frozen=True)
class Route:
    """From where to where; both are paths of files, or both of directories."""

    old: RepoPath
    new: RepoPath
    links: Collection[RepoPath] = ()  # symbolic links of the repository


def moves_of(snapshot: Snapshot, route: Route) -> dict[RepoPath, RepoPath]:
    blobs = snapshot.layout.blobs
    if route.old in blobs:
        return {route.old: route.new}
    start = f"{route.old}/"
    inside = sorted(path for path in blobs if path.startswith(start))
    return {RepoPath(path): RepoPath(f"{route.new}/{path[len(start) :]}") for path in inside}


def against(snapshot: Snapshot, route: Route, moves: Mapping[RepoPath, RepoPath]) -> Iterator[Problem]:
    if route.old == route.new:
        yield Problem("target", "It is there already.", route.new)
        return
    if route.new.startswith(f"{route.old}/"):
        yield Problem("target", "A directory cannot be moved into itself.", route.new)
        return
    if len(moves) > _MOST_FILES:
        yield Problem("size", f"{len(moves)} files are more than one plan can hold ({_MOST_FILES}).")
    is_same = route.old.lower() == route.new.lower()
    if snapshot.exists(route.new) or (snapshot.is_directory(route.new) and not is_same):
        yield Problem("target", f"There is a {_kind(snapshot, route.new)} {shown(route.new)} already.")
    for above in parents(route.new):
        if snapshot.exists(above) and above not in moves:
            yield Problem("target", f"{shown(above)} is a file.")
    for link in sorted(route.links):
        if link == route.old or link.startswith(f"{route.old}/"):
            yield Problem("link", "A symbolic link is not moved.", link)


def _kind(code: Codebase, path: str) -> str:
    return "file" if code.exists(path) else "directory"


def parents(path: str) -> Iterator[str]:
    """The directories around a path, inner ones first."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def moved_view(snapshot: Snapshot, moves: Mapping[RepoPath, RepoPath]) -> Codebase:
    """The view with the same contents under the new paths."""
    blobs = {str(new): snapshot.layout.blobs[old] for old, new in moves.items()}
    contents = {new: snapshot.source(old) for old, new in moves.items()}
    return snapshot.overlaid(blobs, frozenset(moves) - blobs.keys(), contents)


def moving_of(snapshot: Snapshot, after: Codebase, moves: Mapping[RepoPath, RepoPath]) -> Moving:
    """A move as the languages see it."""

    def behind(path: str) -> list[tuple[str, str, int, int]]:
        facts = snapshot.require_facts(path)
        return [
            (facts.receivers[occurrence.receiver - 1], name, occurrence.line, occurrence.column)
            for name, occurrence in snapshot.occurrences_inside(path)
            if occurrence.receiver and occurrence.role is not Role.IMPORT
        ]

    def outer(path: str) -> dict[str, str]:
        facts = snapshot.require_facts(path)
        return {
            ref.name: ref.target[0].path
            for ref in snapshot.references_in(RepoPath(path))
            if ref.target and not ref.receiver and ref.role is not Role.IMPORT
            if ref.target[0].path != path and facts.bound(0, ref.name) is None
        }

    def defined(path: str) -> list[str]:
        facts = snapshot.facts(path)
        return [item.name for item in facts.definitions if item.parent < 0] if facts is not None else []

    paths = {str(old): str(new) for old, new in moves.items()}
    return Moving(
        snapshot.rule_sources,
        after.rule_sources,
        paths,
        snapshot.imported,
        lambda path: snapshot.source(RepoPath(path)),
        behind,
        outer,
        defined,
    )
