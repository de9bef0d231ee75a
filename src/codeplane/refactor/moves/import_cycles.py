"""Imports that would go in a circle once something has moved."""

from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.graph.import_links import links_of
from codeplane.jail import shown
from codeplane.languages.moving import carry_rules
from codeplane.names import Snapshot
from codeplane.refactor.moves.route import parents
from codeplane.refactor.plan import Problem


class Transfer(NamedTuple):
    """A definition goes from one file to another, with imports (from, to) that come to be."""

    source: str
    target: str
    edges: Collection[tuple[str, str]]


def new_circle(snapshot: Snapshot, moved: Transfer) -> list[str]:
    """The files of a circle that was none before; empty where there is none."""
    links = links_of(snapshot).imports
    ahead = {path: set(found) for path, found in links.items()}
    for one, other in moved.edges:
        ahead.setdefault(one, set()).add(other)
    for one, other in sorted(moved.edges):
        if other in links.get(one, ()) and not _is_deferred(snapshot, one, other):
            continue
        while way := _way(ahead, other, one):
            pairs = pairwise(way)
            late = [pair for pair in pairs if pair not in moved.edges and _is_deferred(snapshot, *pair)]
            for path, following in late:
                ahead[path].discard(following)
            if not late:
                break
        if way and not _was_round(snapshot, links, moved, (one, other)):
            return [one, *way]
    return []


def _is_deferred(snapshot: Snapshot, path: str, other: str) -> bool:
    """Whether no import that leads from one file to another is run while the one is loaded."""
    facts = snapshot.facts(path)
    language = carry_rules(facts.language) if facts is not None else None
    if facts is None or language is None:
        return False
    data = snapshot.source(RepoPath(path))
    leading = [
        item
        for at, item in enumerate(facts.imports)
        if any(place.path == other for place in snapshot.imported(path, at))
        or any(place.path == other for place in snapshot.named_module(path, item.module, item.kind))
    ]
    return bool(leading) and all(language.is_deferred(data, item) for item in leading)


def _was_round(
    snapshot: Snapshot, links: Mapping[str, Collection[str]], moved: Transfer, edge: tuple[str, str]
) -> bool:
    """Whether two files led to each other before, where a new file stands for the one that it comes from.

    A circle through a file that was there may be harmless or not: which import comes first decides.
    """
    source, target, edges = moved
    is_direct = {(source, target), (target, source)} <= set(edges)
    if is_direct or snapshot.exists(target):
        return False
    was = [source if path == target else path for path in edge]
    if was[0] == was[1]:
        return any(_way(links, following, source) for following in links.get(source, ()))
    return bool(_way(links, *was) and _way(links, was[1], was[0]))


def _way(ahead: Mapping[str, Collection[str]], start: str, end: str) -> list[str]:
    """The files on the shortest way from one to another; none where there is no way."""
    before: dict[str, str] = {start: ""}
    level = [start]
    while level and end not in before:
        following = []
        for path in level:
            for other in sorted(ahead.get(path, ())):
                if other not in before:
                    before[other] = path
                    following.append(other)
        level = following
    if end not in before:
        return []
    way = [end]
    while before[way[-1]]:
        way.append(before[way[-1]])
    return list(reversed(way))


def circles_through_packages(snapshot: Snapshot, moves: Mapping[RepoPath, RepoPath]) -> Iterator[Problem]:
    """Packages that are run when something in them is imported, and lead back to who imports it."""
    links = links_of(snapshot)
    for old, new in sorted(moves.items()):
        fresh = [f"{above}/__init__.py" for above in parents(new) if not old.startswith(f"{above}/")]
        for package in filter(snapshot.exists, fresh):
            reached, waiting = {package}, [package]
            while waiting:
                following = links.imports.get(waiting.pop(), frozenset()) - reached
                reached |= following
                waiting += following
            for importer in links.importers.get(old, ()):
                is_inside = importer.startswith(package.removesuffix("__init__.py"))
                is_known = is_inside or package in links.imports.get(importer, ())
                if importer in reached and importer not in moves and not is_known:
                    text = f"{shown(importer)} would run {shown(package)}, which leads back to it by imports."
                    yield Problem("doubt", text, RepoPath(importer))
                    break
