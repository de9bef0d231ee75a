"""A private member is used by its mangled name, which has that of the class in it: `_Box__count`."""

import re
from collections.abc import Iterator

from codeplane.core.kinds import CLASSES
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.graph.hierarchy import owner_of
from codeplane.languages import specs
from codeplane.names import Snapshot
from codeplane.refactor.plan import Problem
from codeplane.refactor.risk import Question, risk
from codeplane.refactor.text import Lines


@risk(
    kinds=("mangled",),
    subject="definition",
    order=90,
    applies=lambda spec: bool(spec.reflection.mangled_prefix("Box")),
)
def find(question: Question) -> Iterator[Problem]:
    """Mangled names of the definition, or of members of the class."""
    for place in sorted(question.names.places):
        yield from _mangled(question.snapshot, place)


def _mangled(snapshot: Snapshot, place: Place) -> Iterator[Problem]:
    """Names that hold that of a class, because they are private to it, and what they hold of the class."""
    item, spec = snapshot.definition(place).item, specs()[snapshot.definition(place).language]
    mangled_prefix = spec.reflection.mangled_prefix
    if not mangled_prefix(item.name):
        return
    owner = owner_of(snapshot, place)
    if item.kind in CLASSES:
        beginning, rest = mangled_prefix(item.name), r"\w"
    elif owner is not None and owner.definition >= 0 and spec.types.is_mangled(item.name):
        begins = mangled_prefix(snapshot.definition(owner).name)
        beginning, rest = begins + item.name.removeprefix("__"), r"\b"
    else:
        return
    for path in snapshot.paths_with_beginning(beginning):
        lines = Lines(snapshot.source(RepoPath(path)))
        match = re.search(rf"\b{re.escape(beginning)}{rest}".encode(), lines.data)
        if match is not None:
            text = f"Names that begin with {beginning} hold the name of {item.name}."
            yield Problem("mangled", text, RepoPath(path), lines.position(match.start())[0])
            return
