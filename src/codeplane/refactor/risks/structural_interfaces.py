"""An interface that classes implement without naming it has a member of the name."""

from collections.abc import Iterator

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.graph.hierarchy import owner_of
from codeplane.languages import specs
from codeplane.names import Snapshot
from codeplane.refactor.plan import Problem
from codeplane.refactor.risk import Question, risk


@risk(
    kinds=("silent_interface",),
    subject="member",
    order=125,
    applies=lambda spec: bool(spec.types.structural_kinds),
)
def find(question: Question) -> Iterator[Problem]:
    """Members that may implement an interface."""
    for place in sorted(question.names.places):
        yield from _implemented(question.snapshot, place, question.new)


def _implemented(snapshot: Snapshot, place: Place, new: str) -> Iterator[Problem]:
    """Interfaces that have a member of one of the names."""
    spec, item = specs()[snapshot.definition(place).language], snapshot.definition(place).item
    for name in (item.name, new):
        for holder, kind in snapshot.held(name):
            other = snapshot.facts(holder.path)
            is_near = other is not None and specs()[other.language].family == spec.family
            if (
                kind in spec.types.structural_kinds
                and is_near
                and not _declares_interface(snapshot, place, holder)
            ):
                interface = snapshot.definition(holder).name
                text = (
                    f"{interface} has a member {name}, which may be implemented without naming {interface}."
                )
                yield Problem("silent_interface", text, RepoPath(place.path), item.name_line)


def _declares_interface(snapshot: Snapshot, place: Place, holder: Place) -> bool:
    """Whether the class of a member says that it implements an interface."""
    owner = owner_of(snapshot, place)
    order = snapshot.classes.order((owner,)) if owner is not None else []
    return any(holder in target for target in order)
