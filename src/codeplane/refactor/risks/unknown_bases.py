"""A class with a member of the name extends something unknown, which may be the class of this member."""

from collections.abc import Iterator
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.graph.hierarchy import is_class, owner_of
from codeplane.languages.spec import LanguageSpec
from codeplane.names import Snapshot
from codeplane.names.meaning import is_external
from codeplane.refactor.plan import Problem
from codeplane.refactor.rename_set import RenameSet, is_untold, written_base
from codeplane.refactor.risk import Question

KINDS: Final = ("unknown_base",)
SUBJECT: Final = "member"
ORDER: Final = 150
IS_PER_SITE: Final = False
IS_ABOUT_MOVES: Final = False


def applies(spec: LanguageSpec) -> bool:
    del spec
    return True


def find(asked: Question) -> Iterator[Problem]:
    """Members of the name in classes whose bases are not known."""
    yield from _of_unknown(asked.snapshot, asked.names)


def _of_unknown(snapshot: Snapshot, family: RenameSet) -> Iterator[Problem]:
    """Members of classes with a base of which nothing is known: it may be a class of the family."""
    near = _family(snapshot, min(family.places).path)
    for place in snapshot.definitions(family.name):
        owner = owner_of(snapshot, place) if place not in family.places else None
        if owner is None or not is_class(snapshot, owner) or _family(snapshot, place.path) != near:
            continue
        for target in snapshot.classes.order((owner,))[1:]:
            if is_external(target) and is_untold(target[0].path):
                text = (
                    f"{snapshot.definition(owner).name} has a member {family.name} and extends "
                    f"{written_base(target[0].path)}, of which nothing is known."
                )
                line = snapshot.definition(place).name_line
                yield Problem("unknown_base", text, RepoPath(place.path), line)
                return


def _family(snapshot: Snapshot, path: str) -> str:
    facts = snapshot.facts(path)
    return facts.spec.family if facts is not None else ""
