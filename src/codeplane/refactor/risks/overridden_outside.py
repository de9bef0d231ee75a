"""A base class outside of the repository has a member of the new name, which this one would override."""

from collections.abc import Iterator

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.graph.hierarchy import owner_of
from codeplane.names import Snapshot
from codeplane.names.meaning import is_external
from codeplane.refactor.plan import Problem
from codeplane.refactor.rename_set import may_know, written_base
from codeplane.refactor.risk import Question, risk


@risk(kinds=("outside_base",), subject="member", order=130)
def find(question: Question) -> Iterator[Problem]:
    """Members that the new name would override."""
    for place in sorted(question.names.places):
        yield from _overriding(question.snapshot, place, question.new)


def _overriding(snapshot: Snapshot, place: Place, new: str) -> Iterator[Problem]:
    """Members of classes outside of the repository that the new name would take the place of."""
    owner = owner_of(snapshot, place)
    if owner is None or not new:
        return
    item = snapshot.definition(place).item
    for target in snapshot.classes.order((owner,))[1:]:
        base = written_base(target[0].path) if is_external(target) else ""
        is_known = base and not may_know(snapshot, place, base, item.name)
        if is_known and may_know(snapshot, place, base, new):
            text = f"{base} has a member {new}, which this one would take the place of."
            yield Problem("outside_base", text, RepoPath(place.path), item.name_line)
