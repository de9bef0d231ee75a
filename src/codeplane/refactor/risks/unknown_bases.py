"""A class with a member of the name extends something unknown, which may be the class of this member."""

from collections.abc import Iterator

from codeplane.core.paths import RepoPath
from codeplane.graph.hierarchy import is_class, owner_of
from codeplane.names import Snapshot
from codeplane.names.meaning import is_external
from codeplane.refactor.plan import Problem
from codeplane.refactor.rename_set import RenameSet, is_untold, written_base
from codeplane.refactor.risk import Question, risk


@risk(kinds=("unknown_base",), subject="member", order=150)
def find(question: Question) -> Iterator[Problem]:
    """Members of the name in classes whose bases are not known."""
    yield from _of_unknown(question.snapshot, question.names)


def _of_unknown(snapshot: Snapshot, rename_set: RenameSet) -> Iterator[Problem]:
    """Members of classes with a base of which nothing is known: it may be a class of the rename set."""
    near = _language_family(snapshot, min(rename_set.places).path)
    for place in snapshot.definitions(rename_set.name):
        owner = owner_of(snapshot, place) if place not in rename_set.places else None
        if owner is None or not is_class(snapshot, owner) or _language_family(snapshot, place.path) != near:
            continue
        for target in snapshot.classes.order((owner,))[1:]:
            if is_external(target) and is_untold(target[0].path):
                text = (
                    f"{snapshot.definition(owner).name} has a member {rename_set.name} and extends "
                    f"{written_base(target[0].path)}, of which nothing is known."
                )
                line = snapshot.definition(place).name_line
                yield Problem("unknown_base", text, RepoPath(place.path), line)
                return


def _language_family(snapshot: Snapshot, path: str) -> str:
    facts = snapshot.facts(path)
    return facts.spec.family if facts is not None else ""
