"""An interface that classes implement without naming it has a member of the name."""

from collections.abc import Iterator, Set

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.graph.hierarchy import owner_of
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
    snapshot, places = question.snapshot, question.names.places
    owners = {owner_of(snapshot, place) for place in places}
    for place in sorted(places):
        yield from _implemented(snapshot, place, question.new, owners)


def _implemented(snapshot: Snapshot, place: Place, new: str, owners: Set[Place | None]) -> Iterator[Problem]:
    """Interfaces that have a member of one of the names; that of an owner changes its name as well."""
    item = snapshot.definition(place).item
    for name in (item.name, new):
        for holder in snapshot.interfaces.with_member(name, place):
            if name == item.name and holder in owners:
                continue
            interface = snapshot.definition(holder).name
            text = f"{interface} has a member {name}, which may be implemented without naming {interface}."
            yield Problem("silent_interface", text, RepoPath(place.path), item.name_line)
