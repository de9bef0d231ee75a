"""The names of a module are read at run time, all of them or one that is not written: `globals()`."""

from collections.abc import Iterator

from codeplane.core.paths import RepoPath
from codeplane.names import Snapshot
from codeplane.refactor.plan import Problem
from codeplane.refactor.reflection.by_name import (
    SEARCHED_BY_PART,
    asked_by_part,
    asked_definition,
    is_put_together,
)
from codeplane.refactor.reflection.module_escape import Reach
from codeplane.refactor.rename_set import RenameSet
from codeplane.refactor.risk import Question, risk


@risk(kinds=("dynamic", "any_name"), subject="top level", order=170, is_about_moves=True)
def find(question: Question) -> Iterator[Problem]:
    """Definitions of a module that code may get at so."""
    yield from _of_module(question.snapshot, question.names, question.new)


def _of_module(snapshot: Snapshot, rename_set: RenameSet, new: str) -> Iterator[Problem]:
    """Definitions of a module that code may get at by names that are not written."""
    reach = Reach(snapshot, rename_set)
    if read := reach.read_whole():
        text = "All names of a module that shows it are read at run time."
        yield Problem("dynamic", text, RepoPath(read[0]), read[1])
    elif part := asked_by_part(snapshot, min(rename_set.places), (rename_set.name, new)):
        yield Problem("dynamic", SEARCHED_BY_PART, *part)
    elif (lookup := asked_definition(snapshot, rename_set, reach, (rename_set.name, new))) is not None:
        text = "A name computed at run time is, or may be, looked up in its module."
        is_made = is_put_together(snapshot, lookup, (rename_set.name, new))
        yield Problem("dynamic" if is_made else "any_name", text, lookup.path, lookup.line)
