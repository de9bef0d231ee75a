"""The name is part of a standard protocol, so the library may call it implicitly: `close`, `toString`."""

import re
from collections.abc import Iterator

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages import specs
from codeplane.names import Snapshot
from codeplane.refactor.plan import Problem
from codeplane.refactor.risk import Question, risk


@risk(
    kinds=("called",),
    subject="member",
    order=120,
    applies=lambda spec: bool(spec.reflection.protocol_members),
)
def find(question: Question) -> Iterator[Problem]:
    """Members that the library of the language may call."""
    for place in sorted(question.names.places):
        yield from _called(question.snapshot, place, question.new)


def _called(snapshot: Snapshot, place: Place, new: str) -> Iterator[Problem]:
    """Names that are part of a standard protocol."""
    spec, item = specs()[snapshot.definition(place).language], snapshot.definition(place).item
    for name in (item.name, new):
        if (
            spec.reflection.protocol_members
            and item.kind != "constructor"
            and re.fullmatch(spec.reflection.protocol_members, name)
        ):
            text = f"{name} is part of a standard protocol and may be called implicitly."
            yield Problem("called", text, RepoPath(place.path), item.name_line)
