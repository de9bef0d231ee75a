"""An interface that classes implement without naming it has a member of the name."""

from collections.abc import Iterator
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.graph.hierarchy import owner_of
from codeplane.languages import specs
from codeplane.languages.spec import LanguageSpec
from codeplane.names import Snapshot
from codeplane.refactor.plan import Problem
from codeplane.refactor.risk import Question

KINDS: Final = ("silent_interface",)
SUBJECT: Final = "member"
ORDER: Final = 125
IS_PER_SITE: Final = False
IS_ABOUT_MOVES: Final = False


def applies(spec: LanguageSpec) -> bool:
    return bool(spec.types.structural_kinds)


def find(asked: Question) -> Iterator[Problem]:
    """Members that may implement an interface."""
    for place in sorted(asked.names.places):
        yield from _implemented(asked.snapshot, place, asked.new)


def _implemented(snapshot: Snapshot, place: Place, new: str) -> Iterator[Problem]:
    """Interfaces that have a member of one of the names."""
    spec, item = specs()[snapshot.definition(place).language], snapshot.definition(place).item
    for name in (item.name, new):
        for holder, kind in snapshot.held(name):
            other = snapshot.facts(holder.path)
            is_near = other is not None and specs()[other.language].family == spec.family
            if kind in spec.types.structural_kinds and is_near and not _is_of_family(snapshot, place, holder):
                told = snapshot.definition(holder).name
                text = f"{told} has a member {name}, which may be implemented without naming {told}."
                yield Problem("silent_interface", text, RepoPath(place.path), item.name_line)


def _is_of_family(snapshot: Snapshot, place: Place, holder: Place) -> bool:
    """Whether the class of a member says that it implements an interface."""
    owner = owner_of(snapshot, place)
    order = snapshot.classes.order((owner,)) if owner is not None else []
    return any(holder in target for target in order)
