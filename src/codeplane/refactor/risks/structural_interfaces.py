"""An interface that classes implement without naming it has a member of the name."""

from collections.abc import Iterator

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.names import Snapshot
from codeplane.refactor.plan import Problem
from codeplane.refactor.risk import Question, risk


@risk(
    kinds=("silent_interface",),
    subject="member",
    order=125,
    applies=lambda spec: bool(spec.types.structural_kinds or spec.types.protocols),
)
def find(question: Question) -> Iterator[Problem]:
    """Members that may implement an interface."""
    for place in sorted(question.names.places):
        yield from _implemented(question.snapshot, place, question.new)


def _implemented(snapshot: Snapshot, place: Place, new: str) -> Iterator[Problem]:
    """Interfaces that have a member of one of the names."""
    item = snapshot.definition(place).item
    for name in (item.name, new):
        for holder in snapshot.interfaces.with_member(name, place):
            interface = snapshot.definition(holder).name
            text = f"{interface} has a member {name}, which may be implemented without naming {interface}."
            yield Problem("silent_interface", text, RepoPath(place.path), item.name_line)
