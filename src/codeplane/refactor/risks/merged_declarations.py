"""A file adds to a type that is declared elsewhere: `declare module "./store"`, `declare global`."""

from collections.abc import Iterator

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.graph.hierarchy import owner_of
from codeplane.languages.facts import ScopeKind
from codeplane.names import Snapshot
from codeplane.refactor.plan import Problem
from codeplane.refactor.rename_set import RenameSet
from codeplane.refactor.risk import Question, risk


@risk(
    kinds=("merged",),
    subject="definition",
    order=85,
    applies=lambda spec: bool(spec.types.augmented_kinds),
    is_per_site=True,
)
def find(question: Question) -> Iterator[Problem]:
    """Declarations that may be one type with a definition, or with that of a member."""
    for place in sorted(question.names.places):
        yield from _merged(question.snapshot, place, question.names)


def _merged(snapshot: Snapshot, place: Place, rename_set: RenameSet) -> Iterator[Problem]:
    definition = snapshot.definition(place)
    kinds = definition.spec.types.augmented_kinds
    owner = place if definition.kind in kinds else owner_of(snapshot, place)
    if owner is None or owner.definition < 0 or snapshot.definition(owner).kind not in kinds:
        return
    name, is_augmenting = snapshot.definition(owner).name, _is_augmenting(snapshot, owner)
    others = [
        other
        for other in snapshot.definitions(name)
        if other not in (owner, *rename_set.places)
        and snapshot.definition(other).kind in kinds
        and (is_augmenting or _is_augmenting(snapshot, other))
    ]
    for other in others:
        facts = snapshot.require_facts(other.path)
        for at in (other.definition,) if owner == place else facts.inside(other.definition, definition.name):
            text = f"{name} is declared here too, and the two may be one type."
            yield Problem("merged", text, RepoPath(other.path), facts.definitions[at].name_line)
    if owner == place and is_augmenting and not others:
        text = f"{name} adds to a type that is not in the repository."
        yield Problem("merged", text, RepoPath(place.path), definition.item.name_line)


def _is_augmenting(snapshot: Snapshot, place: Place) -> bool:
    """Whether a declaration stands in `declare module "…"` or in `declare global`.

    The latter is a block that no definition owns. An interface in the body of a function is none: the
    function owns it.
    """
    facts = snapshot.require_facts(place.path)
    item = facts.definitions[place.definition]
    if item.parent < 0:
        return facts.scopes[item.scope].kind is ScopeKind.BLOCK
    return facts.definitions.kind(item.parent) == "module"
