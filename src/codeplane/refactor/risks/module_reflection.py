"""The names of a module are read at run time, all of them or one that is not written: `globals()`."""

from collections.abc import Iterator
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.languages.spec import LanguageSpec
from codeplane.names import Snapshot
from codeplane.refactor.plan import Problem
from codeplane.refactor.reflection.by_name import (
    asked_by_part,
    asked_definition,
    is_put_together,
)
from codeplane.refactor.reflection.module_escape import Reach
from codeplane.refactor.rename_set import RenameSet
from codeplane.refactor.risk import Question

KINDS: Final = ("dynamic", "any_name")
SUBJECT: Final = "top level"
ORDER: Final = 170
IS_PER_SITE: Final = False
IS_ABOUT_MOVES: Final = True

_BY_PART: Final = "Members are searched for names that begin or end like this one."


def applies(spec: LanguageSpec) -> bool:
    del spec
    return True


def find(asked: Question) -> Iterator[Problem]:
    """Definitions of a module that code may get at so."""
    yield from _of_module(asked.snapshot, asked.names, asked.new)


def _of_module(snapshot: Snapshot, family: RenameSet, new: str) -> Iterator[Problem]:
    """Definitions of a module that code may get at by names that are not written."""
    reach = Reach(snapshot, family)
    if read := reach.read_whole():
        text = "All names of a module that shows it are read at run time."
        yield Problem("dynamic", text, RepoPath(read[0]), read[1])
    elif part := asked_by_part(snapshot, min(family.places), (family.name, new)):
        yield Problem("dynamic", _BY_PART, *part)
    elif (found := asked_definition(snapshot, family, reach, (family.name, new))) is not None:
        text = "A name computed at run time is, or may be, looked up in its module."
        is_made = is_put_together(snapshot, found, (family.name, new))
        yield Problem("dynamic" if is_made else "any_name", text, found.path, found.line)
