"""Code of other languages is generated from the definition, and has its name."""

from collections.abc import Iterator

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.names import Snapshot
from codeplane.refactor.plan import Problem
from codeplane.refactor.risk import Question, risk


@risk(kinds=("generated",), subject="definition", order=40, applies=lambda spec: spec.renaming.generates_code)
def find(question: Question) -> Iterator[Problem]:
    """Definitions that code is generated from."""
    for place in sorted(question.names.places):
        yield from _generating(question.snapshot, place)


def _generating(snapshot: Snapshot, place: Place) -> Iterator[Problem]:
    facts = snapshot.require_facts(place.path)
    if facts.spec.renaming.generates_code:
        text = "Code is generated from this, and uses the name in other languages."
        yield Problem("generated", text, RepoPath(place.path), snapshot.definition(place).name_line)
