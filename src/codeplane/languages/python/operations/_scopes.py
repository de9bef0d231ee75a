"""Whether a name can take another in its scope without meaning something else, or being meant by others."""

from collections.abc import Iterator

from codeplane.languages.facts import Facts
from codeplane.languages.operations import OperationRefused, Source
from codeplane.languages.python.operations._occurrences import lines_of, offset_of


def refuse_collisions(source: Source, facts: Facts, bind: int, new: str) -> None:
    """Refuses a new name that its scope, one inside, or code there already uses."""
    scope = facts.binds[bind].scope
    same = [one for one in facts.binds if one.scope == scope and one.name == new]
    if same:
        raise OperationRefused(f"`{new}` is bound at line {same[0].line} in the same scope.")
    old = facts.binds[bind].name
    for one in facts.named(old):
        if one.receiver or one.target != bind + 1:
            continue
        inner = {number for number in _scopes_up_to(facts, one.scope, scope) if number != scope}
        captures = [each for each in facts.binds if each.name == new and each.scope in inner]
        if captures:
            raise OperationRefused(
                f"`{old}` at line {one.line} would mean the `{new}` that is bound at line {captures[0].line}."
            )
    places = [
        offset_of(source, one)
        for one in facts.named(new)
        if not one.receiver
        and scope in _scopes_up_to(facts, one.scope, scope)
        and (not one.target or facts.binds[one.target - 1].scope in _outer_scopes(facts, scope))
    ]
    if places:
        raise OperationRefused(
            f"`{new}` means something else at {lines_of(source, places)}, and would mean this."
        )


def _scopes_up_to(facts: Facts, inner: int, outer: int) -> list[int]:
    """The scopes from one to another around it; none where that is not around it."""
    scopes = [inner]
    while scopes[-1] != outer and scopes[-1] >= 0:
        scopes.append(facts.scopes[scopes[-1]].parent)
    return scopes if scopes[-1] == outer else []


def _outer_scopes(facts: Facts, scope: int) -> set[int]:
    return set(_parents_of(facts, scope))


def _parents_of(facts: Facts, scope: int) -> Iterator[int]:
    parent = facts.scopes[scope].parent
    while parent >= 0:
        yield parent
        parent = facts.scopes[parent].parent
