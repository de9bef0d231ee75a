"""Names that a module can see only because of where it is."""

from collections.abc import Iterator, Mapping

from codeplane.core.paths import RepoPath
from codeplane.jail import shown
from codeplane.names import FileFacts, RefFact, Snapshot
from codeplane.refactor.plan import Problem

_BETWEEN = "::"


def left_behind(snapshot: Snapshot, moves: Mapping[RepoPath, RepoPath]) -> Iterator[Problem]:
    """What files that move use of the modules around them without its being shown to others.

    Where modules are inside each other, the inner ones see all that the outer ones hold.
    """
    reports: set[tuple[str, str]] = set()
    for path in sorted(moves):
        facts = snapshot.facts(path)
        if facts is None or not facts.spec.scopes.module_keywords:
            continue
        around = _around(snapshot, path, moves)
        for ref in snapshot.references_in(path):
            for outer, members in around.items():
                if (path, ref.name) not in reports and _is_hidden(ref, outer, members):
                    reports.add((path, ref.name))
                    text = f"`{ref.name}` is private to {shown(outer)}, or may be."
                    yield Problem("hidden", text, path, ref.line)


def _around(
    snapshot: Snapshot, path: RepoPath, moves: Mapping[RepoPath, RepoPath]
) -> dict[RepoPath, FileFacts]:
    """The files of the modules that a module is in and that stay, unless it is in them afterwards too."""
    name = snapshot.module_name(path)
    neighbours = {}
    directory, _, own = path.rpartition("/")
    ending = own[own.rfind(".") :]
    while directory:
        beside = [f"{directory}/{one}" for one in snapshot.names_in(directory) if one.endswith(ending)]
        if not moves[path].startswith(f"{directory}/"):
            for place in map(RepoPath, (*beside, directory + ending)):
                facts = snapshot.facts(place) if place not in moves else None
                if facts is not None and name.startswith(snapshot.module_name(place) + _BETWEEN):
                    neighbours[place] = facts
        directory = directory.rpartition("/")[0]
    return neighbours


def _is_hidden(ref: RefFact, outer: RepoPath, facts: FileFacts) -> bool:
    """Whether a reference means something of a file that the file does not show to all."""
    for place in ref.target:
        if place.path == outer and place.definition >= 0:
            item = facts.definitions[place.definition]
            return item.parent >= 0 or item.name not in facts.exported
        is_module = place.definition < 0 and place.path != outer
        if is_module and any(facts.definitions[at].kind == "module" for at in facts.inside(-1, ref.name)):
            return ref.name not in facts.exported
    return False
