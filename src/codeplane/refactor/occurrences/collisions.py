"""Names that are taken already where a definition would get them."""

from collections.abc import Iterator

from codeplane.core.places import Place
from codeplane.graph.hierarchy import descendants, is_class, owner_of
from codeplane.graph.places import position
from codeplane.names import Codebase
from codeplane.names.meaning import is_external
from codeplane.refactor.occurrences.keywords import KEYWORD, Keywords
from codeplane.refactor.plan import Problem
from codeplane.refactor.rename_set import RenameSet
from codeplane.refactor.variables import Variable, bare, renamed


def collisions(snapshot: Codebase, rename_set: RenameSet, new: str) -> Iterator[Problem]:
    """Definitions, and bound names, that the new name would meet."""
    reports: set[Place] = set()
    for place in sorted(rename_set.places):
        for other in (*_beside(snapshot, place, new), *_in_hierarchy(snapshot, place, new)):
            if other not in reports:
                reports.add(other)
                yield _taken(snapshot, other, new)
        if problem := _bound(snapshot, place, new):
            yield problem
    for one in sorted(rename_set.variables):
        yield from _hidden(snapshot, one, renamed(one.name, new))
    if rename_set.functions:
        yield from _given(snapshot, rename_set, bare(new))


def _beside(snapshot: Codebase, place: Place, new: str) -> Iterator[Place]:
    facts = snapshot.require_facts(place.path)
    parent = facts.definitions[place.definition].parent
    scope = facts.definitions[place.definition].scope
    for at in facts.inside(parent, new):
        if facts.definitions[at].scope == scope:
            yield Place(place.path, at)


def _in_hierarchy(snapshot: Codebase, place: Place, new: str) -> Iterator[Place]:
    """A member of the new name in a class above or below would override this one, or be overridden."""
    owner = owner_of(snapshot, place)
    if owner is None or not is_class(snapshot, owner):
        return
    above = [one for target in snapshot.classes.order((owner,)) if not is_external(target) for one in target]
    below = [
        descendant.place for descendant, _ in descendants(snapshot, owner) if descendant.place is not None
    ]
    for one in (*above, *below):
        facts = snapshot.require_facts(one.path)
        for at in facts.inside(one.definition, new):
            yield Place(one.path, at)


def _bound(snapshot: Codebase, place: Place, new: str) -> Problem | None:
    """An import or a variable of the new name in the scope of a definition."""
    facts = snapshot.require_facts(place.path)
    item = snapshot.definition(place).item
    at = facts.bound(item.scope, new)
    if at is None:
        return None
    line = facts.binds[at].line if at >= 0 else None
    return Problem("collision", f"`{new}` is bound already where {item.name} is defined.", place.path, line)


def _hidden(snapshot: Codebase, one: Variable, new: str) -> Iterator[Problem]:
    """Something of the new name in the scope of a variable."""
    facts = snapshot.require_facts(one.path)
    at = facts.bound(one.scope, new)
    if at is not None:
        line = facts.binds[at].line if at >= 0 else None
        yield Problem("collision", f"`{new}` is bound already where {one.name} is.", one.path, line)


def _given(snapshot: Codebase, rename_set: RenameSet, new: str) -> Iterator[Problem]:
    """Calls that give a function a keyword of the new name: it would become this parameter."""
    keywords = Keywords(snapshot, rename_set)
    for ref in snapshot.structural_references.named(new):
        if ref.receiver == KEYWORD and keywords.owner(ref.path, ref.line, ref.column) == "ours":
            yield Problem("collision", f"A call gives `{new}=` already.", ref.path, ref.line)


def _taken(snapshot: Codebase, place: Place, new: str) -> Problem:
    item = snapshot.definition(place).item
    text = f"There is a {item.kind} {new} already: {position(snapshot, place)}."
    return Problem("collision", text, place.path, item.name_line)
