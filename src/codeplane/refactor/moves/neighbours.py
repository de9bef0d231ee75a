"""What is near files that move: the names that they go by, the files that may mean others afterwards."""

import posixpath
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from codeplane.core.kinds import split_path
from codeplane.core.paths import RepoPath
from codeplane.graph.import_links import links_of
from codeplane.jail import shown
from codeplane.names import Snapshot
from codeplane.refactor.moves.route import Route
from codeplane.refactor.plan import Plan, Problem

_UNNAMED: Final = ("__init__", "index", "mod", "lib", "main")


def own_name(path: str) -> str:
    """The name by which others know a file or directory."""
    stem = posixpath.basename(path).partition(".")[0]
    is_unnamed = stem in _UNNAMED and "/" in path
    return posixpath.basename(posixpath.dirname(path)) if is_unnamed else stem or posixpath.basename(path)


def words_of(route: Route, moves: Mapping[RepoPath, RepoPath]) -> set[str]:
    """The names that the move plays a part in: its own, and those of directories that are other ones now."""
    candidates = {own_name(route.old), own_name(route.new)}
    if len(moves) == 1:
        candidates |= {own_name(path) for pair in moves.items() for path in pair}
    return {word for word in candidates if word}


def near_files(snapshot: Snapshot, plan: Plan) -> list[RepoPath]:
    """The files whose names may mean something else: those that move, that import them, that are beside."""
    candidates: set[str] = {*plan.moves} | snapshot.importing(frozenset(plan.words))
    candidates.update(
        path for word in plan.words for path in snapshot.paths_with(word) if _reaches(snapshot, path, word)
    )
    importers = links_of(snapshot).importers
    candidates.update(one for path in plan.moves for one in importers.get(path, ()))
    for pair in plan.moves.items():
        for path in pair:
            directory = path.rpartition("/")[0]
            # What declares the module of a directory is beside the directory.
            for near in {directory, directory.rpartition("/")[0]}:
                start = f"{near}/" if near else ""
                candidates.update(start + name for name in snapshot.names_in(near))
    return sorted(RepoPath(path) for path in candidates if snapshot.facts(path) is not None)


def _reaches(snapshot: Snapshot, path: str, word: str) -> bool:
    """Whether a name may stand before others in a file."""
    facts = snapshot.facts(path)
    if facts is None:
        return False
    is_in_paths = any(word in split_path(text) for text in facts.receivers)
    return is_in_paths or bool(facts.spec.scopes.module_keywords)


def unread(snapshot: Snapshot, near: Collection[RepoPath]) -> Iterator[Problem]:
    """Files that are not known well enough to tell."""
    if unread := snapshot.coverage.unread:
        yield Problem("not_indexed", f"{unread} files have not been read yet.")
    for path in near:
        facts = snapshot.facts(path)
        if facts is not None and facts.state in ("partial", "failed"):
            yield Problem("parse_partial", f"{shown(path)} could not be parsed whole.", path)


def companions(snapshot: Snapshot, route: Route, moves: Mapping[RepoPath, RepoPath]) -> Iterator[Problem]:
    """Files that go by the name of one that moves, and stay."""
    if route.old not in moves:
        return
    stem = posixpath.basename(route.old).partition(".")[0]
    layout = snapshot.layout
    names = {f"test_{stem}", f"{stem}_test", stem}
    for name, paths in sorted(layout.by_name.items()):
        own = name.partition(".")[0]
        if own in names or name.startswith((f"{stem}.test.", f"{stem}.spec.")):
            for path in paths:
                is_beside = posixpath.dirname(path) == posixpath.dirname(route.old)
                if path not in moves and (own != stem or is_beside):
                    yield Problem("companion", f"{shown(path)} stays where it is.")
