"""Imports that would go in a circle once something has moved."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.graph.import_links import links_of
from codeplane.jail import shown
from codeplane.languages.rules.carrying import Use, carry_rules
from codeplane.names import Snapshot
from codeplane.refactor.moves.import_changes import ImportChanges, import_site
from codeplane.refactor.moves.route import parents
from codeplane.refactor.moves.symbol_move import SymbolMove
from codeplane.refactor.plan import Problem


class Transfer(NamedTuple):
    """A definition goes from one file to another, with imports (from, to) that come to be."""

    source: str
    target: str
    edges: Collection[tuple[str, str]]


def new_circle(snapshot: Snapshot, transfer: Transfer) -> list[str]:
    """The files of a circle that was none before; empty where there is none."""
    links = links_of(snapshot).imports
    ahead = {path: set(targets) for path, targets in links.items()}
    for one, other in transfer.edges:
        ahead.setdefault(one, set()).add(other)
    for one, other in sorted(transfer.edges):
        if other in links.get(one, ()) and not _is_deferred(snapshot, one, other):
            continue
        while way := _way(ahead, other, one):
            pairs = pairwise(way)
            late = [pair for pair in pairs if pair not in transfer.edges and _is_deferred(snapshot, *pair)]
            for path, following in late:
                ahead[path].discard(following)
            if not late:
                break
        if way and not _was_round(snapshot, links, transfer, (one, other)):
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
    snapshot: Snapshot, links: Mapping[str, Collection[str]], transfer: Transfer, edge: tuple[str, str]
) -> bool:
    """Whether two files led to each other before, where a new file stands for the one that it comes from.

    A circle through a file that was there may be harmless or not: which import comes first decides.
    """
    source, target, edges = transfer
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
            closure, waiting = {package}, [package]
            while waiting:
                following = links.imports.get(waiting.pop(), frozenset()) - closure
                closure |= following
                waiting += following
            for importer in links.importers.get(old, ()):
                is_inside = importer.startswith(package.removesuffix("__init__.py"))
                is_known = is_inside or package in links.imports.get(importer, ())
                if importer in closure and importer not in moves and not is_known:
                    text = f"{shown(importer)} would run {shown(package)}, which leads back to it by imports."
                    yield Problem("doubt", text, RepoPath(importer))
                    break


class CycleBreaker:
    """Looks for circles that a move would make, and breaks them as far as it may."""

    def __init__(self, move: SymbolMove, changes: ImportChanges) -> None:
        self._move, self._changes = move, changes
        self.circle: list[str] = []  # files whose imports would go round

    def break_cycles(self) -> None:
        """Imports in a circle that were none before."""
        while way := self._find_circle():
            if self._is_harmless():
                text = f"{shown(self._move.source)} and {shown(self._move.target)} import each other: "
                self._changes.remarks.append(text + "nothing that has moved runs while they are loaded.")
                self.circle = way
                break
            if self._move.on_cycle == "allow" and self._move.language.cycles_load:
                cycle = " → ".join(map(shown, way))
                self._changes.remarks.append(f"Imports are circular now: {cycle}.")
                break
            if self._move.on_cycle != "local_import" or not self._defer_imports(way):
                self.circle = way
                cycle = " → ".join(map(shown, way))
                self._changes.refuse("cycle", f"Imports would be circular: {cycle}.")
                return
        for need in self._changes.needs:
            is_own = need.path == self._move.source and not need.wanted.is_export
            if is_own and not need.is_local:
                name = need.wanted.name
                self._changes.remarks.append(
                    f"{shown(need.path)} imports {name} back: it is used or shown there."
                )
        late = [need for need in self._changes.needs if need.is_local]
        for path in dict.fromkeys(need.path for need in late):
            names = ", ".join(f"`{need.wanted.name}`" for need in late if need.path == path)
            self._changes.remarks.append(
                f"{shown(path)} imports {names} inside functions: at the top, imports would be circular."
            )
        self._changes.sites += [
            import_site(self._move.source, one) for one in self._changes.local_imports(self._move.source)
        ]

    def _is_harmless(self) -> bool:
        """Whether a circle of imports cannot matter: the new file has nothing that runs when it is loaded."""
        data = self._move.data
        items = [self._move.snapshot.definition(place).item for place in self._move.removals.places]
        return self._move.carrying.is_new and all(
            self._move.language.runs_nothing(data, item.name_line) for item in items
        )

    def _find_circle(self) -> list[str]:
        edges = {need.edge for need in self._changes.needs if need.edge is not None and not need.is_local}
        return new_circle(
            self._move.snapshot,
            Transfer(self._move.source, self._move.target, self._changes.edges | edges),
        )

    def _defer_imports(self, way: Sequence[str]) -> bool:
        """Makes the imports of one edge of a circle in the functions that use them."""
        edges = list(pairwise(way))
        data = self._move.data
        for edge in sorted(edges, key=lambda one: one[0] != self._move.target):
            needs = [need for need in self._changes.needs if need.edge == edge and not need.is_local]
            uses = [Use(need.wanted, need.offsets) for need in needs]
            is_inside = bool(uses) and all(use.offsets for use in uses)
            if is_inside and self._move.language.import_locally(data, uses) is not None:
                for need in needs:
                    need.is_local = True
                return True
        return False
