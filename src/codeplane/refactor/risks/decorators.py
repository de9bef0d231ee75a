"""A decorator or annotation may register the definition or its fields by name: `@route`, `#[derive(…)]`."""

from collections.abc import Iterator
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.graph.hierarchy import owner_of
from codeplane.names import Snapshot
from codeplane.names.meaning import is_external, known
from codeplane.refactor.plan import Problem
from codeplane.refactor.reflection.bulk_field_access import asked_whole
from codeplane.refactor.reflection.decorators import marks
from codeplane.refactor.reflection.fixtures import is_fixture
from codeplane.refactor.risk import Question, risk

_HELD: Final = frozenset("field property variable constant enum_member variant member".split())


@risk(
    kinds=("decorated",),
    subject="any",
    order=60,
    applies=lambda spec: bool(spec.reflection.decorator),
    is_about_moves=True,
)
def find(question: Question) -> Iterator[Problem]:
    """Decorators of the definition, of the class of a field, or of the function of a parameter."""
    for place in sorted(question.names.functions if question.names.is_local else question.names.places):
        yield from _decorated(question.snapshot, place)


def _decorated(snapshot: Snapshot, place: Place) -> Iterator[Problem]:
    """Decorators may keep what they decorate under its name: fixtures, commands, routes."""
    item = snapshot.definition(place).item
    for name in marks(snapshot, place) if not is_fixture(snapshot, place) else ():
        text = f"`{name}` may keep {item.name} under its name."
        yield Problem("decorated", text, RepoPath(place.path), item.name_line)
    owner = owner_of(snapshot, place) if item.kind in _HELD else None
    if owner is None or owner.definition < 0:
        return
    holder = snapshot.definition(owner).name
    for name in marks(snapshot, owner, of_fields=True):
        if _may_look(snapshot, owner, name):
            text = f"`{name}` may make something of the names of what {holder} holds."
            yield Problem("decorated", text, RepoPath(place.path), item.name_line)


def _may_look(snapshot: Snapshot, owner: Place, mark: str) -> bool:
    """Whether what stands before a class may look at its fields; code of the repository shows that."""
    target = known(snapshot.written(owner.path, 0, mark.lstrip("@")))
    asking = snapshot.dynamics.asking() if target and not is_external(target) else {}
    own = [one.path for one in target if not is_external((one,))]
    return not own or any(path in asking or asked_whole(snapshot, path) for path in own)
