"""Moving a file or a directory: every import that leads to it follows, or the reason why not."""

import posixpath
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from codeplane.core.edits import EditSet, FileEdit
from codeplane.core.errors import ContentChanged
from codeplane.core.paths import RepoPath
from codeplane.core.proof import Tier
from codeplane.graph.importing import links_of
from codeplane.index import Index, Snapshot
from codeplane.index.links import Linker
from codeplane.index.sources import ViewSources
from codeplane.index.targets import split_path
from codeplane.jail import shown
from codeplane.languages.facts import Role
from codeplane.languages.modules import Place, rules
from codeplane.languages.moving import Moving, Stuck, follows
from codeplane.refactor.carried import Carried, Part, around, carried_by
from codeplane.refactor.forms import forms, open_places
from codeplane.refactor.hidden import left_behind
from codeplane.refactor.plan import Plan, Problem, Site, Verdict, by_path
from codeplane.refactor.rename import Sweep, concerned, shown_lines
from codeplane.refactor.text import Lines
from codeplane.truth import digest_of

_MOST_FILES: Final = 5_000
_MOST_CONCERNED: Final = 3_000
_UNNAMED: Final = ("__init__", "index", "mod", "lib", "main")


@dataclass(frozen=True)
class Route:
    """From where to where; both are paths of files, or both of directories."""

    old: RepoPath
    new: RepoPath
    links: Collection[RepoPath] = ()  # symbolic links of the repository


def draft(snapshot: Snapshot, route: Route, sweep: Sweep) -> Plan:
    """What a move comes to by the facts; `proven` decides whether it holds."""
    moves = _moves(snapshot, route)
    old, new = (_name(path) for path in (route.old, route.new))
    plan = Plan("move", route.old, "", old, new, Verdict.OK, moves=moves, epoch=snapshot.epoch)
    if against := list(_against(snapshot, route, moves)):
        return replace(plan, problems=tuple(against), verdict=Verdict.REFUSED)
    after = _moved(snapshot, moves)
    moving = moving_of(snapshot.linker, after, moves, snapshot)
    plan = replace(plan, words=tuple(sorted(_words(route, moves))))
    near = _concerned(snapshot, plan)
    sites, stuck = _followed(moving, near)
    groups, mentions = open_places(snapshot, moving, forms(moving, after, route.old, route.new), sites)
    taken = tuple(replace(one, is_taken=sweep.takes(one)) for one in mentions)
    doubts = [*(one for one in stuck if one.kind == "doubt"), *_circles(snapshot, moves)]
    notes = dict.fromkeys(Problem("note", one.text) for one in stuck if one.kind == "note")
    problems = [one for one in stuck if one.kind not in ("doubt", "note")]
    problems += left_behind(snapshot, moves)
    blocked = list(_unread(snapshot, near))
    plan = replace(
        plan,
        sites=tuple(sites),
        groups=tuple(replace(group, id=f"group_{at}") for at, group in enumerate(groups, 1)),
        mentions=taken,
        problems=(*problems, *blocked),
        notes=(*doubts, *notes, *_companions(snapshot, route, moves)),
    )
    verdict = Verdict.NEEDS_DECISION if groups or doubts else Verdict.OK
    verdict = Verdict.BLOCKED if blocked else verdict
    plan = replace(plan, verdict=Verdict.UNSUPPORTED if problems else verdict)
    return written(snapshot, plan, [*sites, *(one.site for one in taken if one.is_taken)])


def written(snapshot: Snapshot, plan: Plan, sites: Collection[Site]) -> Plan:
    """The files as they would be, those that move at their new paths."""
    sites_in = by_path(sites)
    before, edits = {}, []
    lost: list[Site] = []
    for path in sorted({*sites_in, *plan.moves}):
        lines = Lines(snapshot.source(path))
        some = sites_in.get(path, [])
        lost += [site for site in some if not lines.holds(site)]
        before[path] = lines.data
        data = lines.replaced(site for site in some if lines.holds(site))
        digest = digest_of(lines.data)
        if path in plan.moves:
            edits += [FileEdit(path, digest, None), FileEdit(plan.moves[path], None, data, moved_from=path)]
        else:
            edits.append(FileEdit(path, digest, data))
    plan = replace(plan, edits=EditSet(tuple(edits)), before=before)
    plan = replace(plan, read=concerned(snapshot, plan), shown_lines=shown_lines(snapshot, plan))
    if not lost:
        return plan
    told = tuple(Problem("unwritten", f"`{one.old}` is not written so.", one.path, one.line) for one in lost)
    return replace(plan, problems=(*plan.problems, *told), verdict=Verdict.REFUSED)


def with_groups(snapshot: Snapshot, plan: Plan, selected: Collection[str]) -> Plan:
    """The plan with groups of open places taken along, on the state that it was made on."""
    made = plan.choosing(selected, snapshot.epoch)
    return written(snapshot, made, made.taken)


def proven(index: Index, plan: Plan) -> Plan:
    """The plan with its verdict: a move after which names mean something else is refused."""
    if plan.verdict in (Verdict.REFUSED, Verdict.UNSUPPORTED) or not plan.edits.edits:
        return plan
    contents = {edit.path: edit.after for edit in plan.edits.edits if edit.after is not None}
    with index.overlay(contents, frozenset(plan.moves) - contents.keys()) as (snapshot, linker):
        if snapshot.epoch != plan.epoch:
            raise ContentChanged("Files have changed while the plan was made.")
        moving = moving_of(snapshot.linker, linker.sources, plan.moves, snapshot)
        sites_in = by_path(plan.taken)
        carry = carried_by(plan.moves, lambda path: moving.place(Place(path)).path)
        parts = []
        for path in {*_concerned(snapshot, plan), *sites_in}:
            spans = around(Lines(plan.before[path]), sites_in[path]) if path in sites_in else ()
            parts.append(Part(path, plan.moves.get(path, path), *spans))
        come = {plan.moves.get(site.path, site.path) for site in plan.sites if not site.old}
        carried = Carried(snapshot.linker, linker, carry, plan.words, plan.moves)
        broken = carried.breaches(parts, come=come)
    if not broken:
        return plan
    return replace(plan, verdict=Verdict.REFUSED, problems=(*plan.problems, *broken))


def moving_of(
    linker: Linker, after: ViewSources, moves: Mapping[RepoPath, RepoPath], snapshot: Snapshot
) -> Moving:
    sources = linker.sources

    def behind(path: str) -> list[tuple[str, str, int, int]]:
        facts = sources.facts(path)
        assert facts is not None, "BUG: a file with imports has facts"
        return [
            (facts.receivers[seen.receiver - 1], name, seen.line, seen.column)
            for name, seen in sources.occurrences_inside(path)
            if seen.receiver and seen.role is not Role.IMPORT
        ]

    def outer(path: str) -> dict[str, str]:
        facts = sources.facts(path)
        assert facts is not None, "BUG: a file with names has facts"
        return {
            ref.name: ref.target[0].path
            for ref in snapshot.references_in(RepoPath(path))
            if ref.target and not ref.receiver and ref.role is not Role.IMPORT
            if ref.target[0].path != path and facts.bound(0, ref.name) is None
        }

    def defined(path: str) -> list[str]:
        facts = sources.facts(path)
        return [item.name for item in facts.definitions if item.parent < 0] if facts is not None else []

    paths = {str(old): str(new) for old, new in moves.items()}
    read = snapshot.source
    return Moving(
        sources, after, paths, linker.imported, lambda path: read(RepoPath(path)), behind, outer, defined
    )


def _moves(snapshot: Snapshot, route: Route) -> dict[RepoPath, RepoPath]:
    blobs = snapshot.linker.sources.memo.layout.blobs
    if route.old in blobs:
        return {route.old: route.new}
    start = f"{route.old}/"
    inside = sorted(path for path in blobs if path.startswith(start))
    return {RepoPath(path): RepoPath(f"{route.new}/{path[len(start) :]}") for path in inside}


def _against(snapshot: Snapshot, route: Route, moves: Mapping[RepoPath, RepoPath]) -> Iterator[Problem]:
    sources = snapshot.linker.sources
    if route.old == route.new:
        yield Problem("target", "It is there already.", route.new)
        return
    if route.new.startswith(f"{route.old}/"):
        yield Problem("target", "A directory cannot be moved into itself.", route.new)
        return
    if len(moves) > _MOST_FILES:
        yield Problem("size", f"{len(moves)} files are more than one plan can hold ({_MOST_FILES}).")
    is_same = route.old.lower() == route.new.lower()
    if sources.exists(route.new) or (sources.is_directory(route.new) and not is_same):
        yield Problem("target", f"There is a {_kind(sources, route.new)} {shown(route.new)} already.")
    for above in _above(route.new):
        if sources.exists(above) and above not in moves:
            yield Problem("target", f"{shown(above)} is a file.")
    for link in sorted(route.links):
        if link == route.old or link.startswith(f"{route.old}/"):
            yield Problem("link", "A symbolic link is not moved.", link)


def _kind(sources: ViewSources, path: str) -> str:
    return "file" if sources.exists(path) else "directory"


def _above(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _moved(snapshot: Snapshot, moves: Mapping[RepoPath, RepoPath]) -> ViewSources:
    """The view with the same contents under the new paths."""
    sources = snapshot.linker.sources
    blobs = {str(new): sources.memo.layout.blobs[old] for old, new in moves.items()}
    contents = {new: snapshot.source(old) for old, new in moves.items()}
    return sources.overlaid(blobs, frozenset(moves) - blobs.keys(), contents)


def _name(path: str) -> str:
    """The name by which others know a file or directory."""
    stem = posixpath.basename(path).partition(".")[0]
    is_unnamed = stem in _UNNAMED and "/" in path
    return posixpath.basename(posixpath.dirname(path)) if is_unnamed else stem or posixpath.basename(path)


def _words(route: Route, moves: Mapping[RepoPath, RepoPath]) -> set[str]:
    """The names that the move plays a part in: its own, and those of directories that are other ones now."""
    found = {_name(route.old), _name(route.new)}
    if len(moves) == 1:
        found |= {_name(path) for pair in moves.items() for path in pair}
    return {word for word in found if word}


def _concerned(snapshot: Snapshot, plan: Plan) -> list[RepoPath]:
    """The files whose names may mean something else: those that move, that import them, that are beside."""
    sources = snapshot.linker.sources
    found: set[str] = {*plan.moves} | sources.importing(frozenset(plan.words))
    found.update(
        path for word in plan.words for path in sources.paths_with(word) if _reaches(snapshot, path, word)
    )
    importers = links_of(snapshot).importers
    found.update(one for path in plan.moves for one in importers.get(path, ()))
    for pair in plan.moves.items():
        for path in pair:
            directory = path.rpartition("/")[0]
            # What declares the module of a directory is beside the directory.
            for near in {directory, directory.rpartition("/")[0]}:
                start = f"{near}/" if near else ""
                found.update(start + name for name in sources.names_in(near))
    return sorted(RepoPath(path) for path in found if sources.facts(path) is not None)


def _reaches(snapshot: Snapshot, path: str, word: str) -> bool:
    """Whether a name may stand before others in a file."""
    facts = snapshot.linker.sources.facts(path)
    if facts is None:
        return False
    is_in_paths = any(word in split_path(text) for text in facts.receivers)
    return is_in_paths or bool(snapshot.linker.spec(facts).module_keywords)


def _followed(moving: Moving, near: Collection[RepoPath]) -> tuple[list[Site], list[Problem]]:
    sites, stuck = [], []
    for path in near:
        facts = moving.before.facts(path) if isinstance(moving.before, ViewSources) else None
        language = follows(facts.language) if facts is not None else None
        if facts is None or language is None:
            if facts is not None and path in moving.moves and (facts.imports or rules(facts.language)):
                text = f"What a move makes of imports in {facts.language} is not known."
                stuck.append(Problem("language", text, path))
            continue
        for one in language.follow(moving, path):
            if isinstance(one, Stuck):
                stuck.append(Problem(one.weight, one.text, path, one.line))
            else:
                sites.append(Site(path, *one, Tier.PROVEN, "import"))
    return sorted(set(sites)), stuck


def _circles(snapshot: Snapshot, moves: Mapping[RepoPath, RepoPath]) -> Iterator[Problem]:
    """Packages that are run when something in them is imported, and lead back to who imports it."""
    links, sources = links_of(snapshot), snapshot.linker.sources
    for old, new in sorted(moves.items()):
        fresh = [f"{above}/__init__.py" for above in _above(new) if not old.startswith(f"{above}/")]
        for package in filter(sources.exists, fresh):
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


def _unread(snapshot: Snapshot, near: Collection[RepoPath]) -> Iterator[Problem]:
    """Files that are not known well enough to tell."""
    if unread := snapshot.coverage.unread:
        yield Problem("not_indexed", f"{unread} files have not been read yet.")
    for path in near:
        facts = snapshot.linker.sources.facts(path)
        if facts is not None and facts.state in ("partial", "failed"):
            yield Problem("parse_partial", f"{shown(path)} could not be parsed whole.", path)


def _companions(snapshot: Snapshot, route: Route, moves: Mapping[RepoPath, RepoPath]) -> Iterator[Problem]:
    """Files that go by the name of one that moves, and stay."""
    if route.old not in moves:
        return
    stem = posixpath.basename(route.old).partition(".")[0]
    layout = snapshot.linker.sources.memo.layout
    names = {f"test_{stem}", f"{stem}_test", stem}
    for name, paths in sorted(layout.by_name.items()):
        own = name.partition(".")[0]
        if own in names or name.startswith((f"{stem}.test.", f"{stem}.spec.")):
            for path in paths:
                is_beside = posixpath.dirname(path) == posixpath.dirname(route.old)
                if path not in moves and (own != stem or is_beside):
                    yield Problem("companion", f"{shown(path)} stays where it is.")
