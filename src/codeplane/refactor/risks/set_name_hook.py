"""The value of a member is told the name that it is bound to: `__set_name__`."""

import re
from collections.abc import Iterator

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages import specs
from codeplane.names import Snapshot
from codeplane.names.meaning import known
from codeplane.refactor.plan import Problem
from codeplane.refactor.risk import Question, risk
from codeplane.refactor.text import Lines


@risk(kinds=("told",), subject="member", order=100, applies=lambda spec: bool(spec.reflection.set_name_hook))
def find(question: Question) -> Iterator[Problem]:
    """Members whose values are told their names."""
    for place in sorted(question.names.places):
        yield from _told_by_value(question.snapshot, place)


def _told_by_value(snapshot: Snapshot, place: Place) -> Iterator[Problem]:
    """Members whose values are told the names that they are bound to."""
    item, spec = snapshot.definition(place).item, specs()[snapshot.definition(place).language]
    line = (
        Lines(snapshot.source(RepoPath(place.path))).text(item.name_line)
        if spec.reflection.set_name_hook
        else ""
    )
    constructor = re.match(rf"\s*{re.escape(item.name)}\s*(?::[^=]+)?=\s*([\w.]+)\(", line)
    target = known(snapshot.written(place.path, item.scope, constructor[1])) if constructor else ()
    if target and known(snapshot.classes.member(target, spec.reflection.set_name_hook)):
        text = f"The value of {item.name} receives the name that it is bound to."
        yield Problem("told", text, RepoPath(place.path), item.name_line)
