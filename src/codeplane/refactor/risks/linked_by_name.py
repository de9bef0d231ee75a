"""Files are linked by name, and another definition of the name may be the one that is linked."""

from collections.abc import Iterator

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.graph.places import position
from codeplane.languages import specs
from codeplane.names import Snapshot
from codeplane.refactor.plan import Problem
from codeplane.refactor.rename_set import RenameSet
from codeplane.refactor.risk import Question, risk


@risk(kinds=("linked",), subject="definition", order=80, applies=lambda spec: spec.renaming.prototypes)
def find(question: Question) -> Iterator[Problem]:
    """Functions that have a namesake."""
    for place in sorted(question.names.places):
        yield from _linked(question.snapshot, place, question.names)


def _linked(snapshot: Snapshot, place: Place, rename_set: RenameSet) -> Iterator[Problem]:
    """Where files are put together by name: another definition of the name may be the one that is meant."""
    spec, item = specs()[snapshot.definition(place).language], snapshot.definition(place).item
    if not spec.renaming.prototypes or item.kind != "function" or item.signature.startswith("static"):
        return
    for other in snapshot.definitions(item.name):
        there = snapshot.require_facts(other.path)
        is_near = there.spec.family == spec.family
        if other not in rename_set.places and is_near and snapshot.definition(other).kind == item.kind:
            text = f"There is another {item.name}: {position(snapshot, other)}."
            yield Problem("linked", text, RepoPath(place.path), item.name_line)
            return
