"""A class of the tests has a member of the name and may be passed in place of the real one: a test double."""

from collections.abc import Iterator

from codeplane.core.kinds import split_path
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.graph.hierarchy import is_class, owner_of
from codeplane.languages.facts import Reason
from codeplane.names import RefFact, Snapshot
from codeplane.refactor.plan import Problem
from codeplane.refactor.rename_set import RenameSet
from codeplane.refactor.risk import Question, risk


@risk(kinds=("double",), subject="member", order=140, applies=lambda spec: spec.types.duck_typed)
def find(question: Question) -> Iterator[Problem]:
    """Members of classes in tests that may be called where one of the rename set is declared."""
    snapshot, rename_set = question.snapshot, question.names
    others = list(_others(snapshot, rename_set)) if rename_set.is_member else []
    for other in others if any(_declared(snapshot, rename_set)) else ():
        owner = owner_of(snapshot, other)
        assert owner is not None, "BUG: a member has an owner"
        text = f"{snapshot.definition(owner).name} may be given where another class is declared."
        line = snapshot.definition(other).name_line
        yield Problem("double", text, RepoPath(other.path), line)


def _others(snapshot: Snapshot, rename_set: RenameSet) -> Iterator[Place]:
    facts = snapshot.require_facts(min(rename_set.places).path)
    spec, tests = facts.spec, snapshot.tests()
    for place in snapshot.definitions(rename_set.name) if spec.types.duck_typed else ():
        there = snapshot.require_facts(place.path)
        is_near = there.spec.family == spec.family
        if is_near and place.path in tests and place not in rename_set.places:
            owner = owner_of(snapshot, place)
            if owner is not None and is_class(snapshot, owner):
                yield place


def _declared(snapshot: Snapshot, rename_set: RenameSet) -> Iterator[RefFact]:
    """References through a parameter, or through something that an instance holds, tests aside."""
    tests = snapshot.tests()
    for place in sorted(rename_set.places):
        for ref in snapshot.structural_references.to(place):
            if place in ref.target and ref.receiver and ref.path not in tests and _is_given(snapshot, ref):
                yield ref


def _is_given(snapshot: Snapshot, ref: RefFact) -> bool:
    facts = snapshot.require_facts(ref.path)
    head, *way = split_path(ref.receiver)
    if head in facts.spec.scopes.self_parameters:
        return bool(way)
    column = ref.column - len(ref.receiver.encode("utf-8", "surrogateescape")) - 1
    standing = snapshot.occurrence_at(ref.path, ref.line, column) if column >= 0 else None
    bind = facts.binds[standing[1].target - 1] if standing is not None and standing[1].target else None
    return bind is not None and bind.reason is Reason.PARAM
