"""What is no longer defined in its place and still there: from a base, or by an import."""

from collections.abc import Sequence
from dataclasses import replace

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.graph.diff.structure import Change, ChangeKind
from codeplane.names import Codebase
from codeplane.names.meaning import AMBIGUOUS, known

_GONE = (ChangeKind.REMOVED, ChangeKind.RENAMED)


def with_inherited(code: Codebase, path: RepoPath, changes: Sequence[Change]) -> list[Change]:
    """The changes of a file as the new state has it: what a base or an import still provides breaks nobody.

    Where a base is outside of the repository, nothing tells.
    """
    return [_judged(code, path, _imported(code, path, one)) for one in changes]


def _imported(code: Codebase, path: RepoPath, one: Change) -> Change:
    if one.change not in _GONE or one.breaking is not True:
        return one
    target = known(code.member_of((Place(path),), one.old_name or one.definition.name))
    if not target:
        return one
    return replace(one, breaking=False, tags=(*one.tags, "imported_instead"))


def _judged(code: Codebase, path: RepoPath, holder: Change) -> Change:
    if not holder.nested:
        return holder
    changes = [_judged(code, path, one) for one in holder.nested]
    if holder.after is not None:
        owner = Place(path, holder.after)
        changes = [_member(code, owner, one) if one.change in _GONE else one for one in changes]
    return replace(holder, nested=tuple(changes))


def _member(code: Codebase, owner: Place, one: Change) -> Change:
    if one.breaking is not True:
        return one
    name = one.old_name or one.definition.name
    target = code.classes.member(code.grouped(owner), name, of_bases=True)
    if not target:
        return one
    return replace(one, breaking=None if target == AMBIGUOUS else False, tags=(*one.tags, "inherited"))
