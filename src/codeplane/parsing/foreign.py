"""What one file may know of another, and the digest that changes exactly when that does.

Meanings are kept from one epoch to the next as long as no file shows others anything new. The digest is taken
of all fields of `ForeignFacts`: what is added there is covered, and what is not there must not be read of
another file.
"""

import hashlib
import json
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from codeplane.languages.facts import MADE, Bind, Definition, Facts, Role, places

_Row = list[object]


class ForeignFacts(NamedTuple):
    """The facts of a file without what stands in bodies alone."""

    package: str
    scopes: list[_Row]
    definitions: list[_Row]
    # What stands deeper than what is beside it is made under a condition.
    columns: list[int]
    imports: list[_Row]
    exports: list[_Row]
    binds: list[_Row]
    writes: list[_Row]
    setters: list[_Row]
    decorators: list[_Row]
    tests_of_types: list[_Row]

    def digest(self) -> str:
        return hashlib.sha256(json.dumps(self).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def foreign_facts(facts: Facts) -> ForeignFacts:
    """What others can see of a file; where things stand is not among it."""
    # Scopes are counted among those that definitions stand in: others come and go with bodies.
    scopes = {scope: at for at, scope in enumerate(sorted(_scopes_around(facts)))}
    return ForeignFacts(
        facts.package,
        [[scopes.get(one.parent, -1), one.kind] for one in map(facts.scopes.__getitem__, scopes)]
        if facts.scopes
        else [],
        [
            [d.name, d.kind, d.parent, scopes[d.scope], d.signature, d.bases, d.annotation, d.flags, d.owner]
            for d in facts.definitions
        ],
        [d.span.start_column for d in facts.definitions if d.parent >= 0 and d.body >= 0],
        [[i.kind, i.module, i.name, i.alias, i.reexport, i.certain] for i in facts.imports],
        [list(e) for e in facts.exports],
        [
            [scopes[one.scope], one.name, one.reason, one.target, one.certain, one.type_name]
            for one in facts.binds
            if one.scope in scopes
        ],
        sorted(_written_members(facts)),
        [
            [d.literals, d.computed, _enclosing_definition(facts, d.line)]
            for d in facts.dynamics
            if d.pattern == "setattr"
        ],
        [list(_decorator_names(facts, d)) for d in facts.definitions if d.span.start_line < d.name_line],
        [list(one) for one in sorted(_type_tests(facts))],
    )


def _decorator_names(facts: Facts, item: Definition) -> list[list[tuple[str, str]]]:
    """The names on each line before that of a definition's own, with what is before them: its decorators."""
    occurrences = facts.occurrences
    lines = occurrences.lines[item.span.start_line - 1 : item.name_line]
    begins = [bisect_left(occurrences.starts, line) for line in lines]
    return [[_written_at(facts, at) for at in range(*pair)] for pair in pairwise(begins)]


def _written_at(facts: Facts, at: int) -> tuple[str, str]:
    """What a name stands behind, and the name."""
    number = facts.occurrences.receivers[at]
    return facts.receivers[number - 1] if number else "", facts.occurrences.texts[facts.occurrences.names[at]]


def _type_tests(facts: Facts) -> Iterator[list[str]]:
    """What code asks of the values behind which others see the results of calls: `x instanceof A`, and every
    call that is on one or begins with one, for it may ask as well."""
    results = [bind.type_name for bind in _binds_around(facts)] + [d.annotation for d in facts.definitions]
    heads = {_first_name(text) for text in results if text.endswith(MADE) and "." in text}
    yield from ([one] for one in facts.asked if _first_name(one.partition(" ")[0]) in heads)
    if not heads:
        return
    occurrences = facts.occurrences
    # Worked out once for each text: a file has many more names than texts.
    behind = ["" in heads, *(_first_name(text).rstrip("?") in heads for text in facts.receivers)]
    alone = [_first_name(text).rstrip("?") in heads for text in occurrences.texts]
    for at in places(occurrences.roles, Role.CALL):
        after = at + 1
        while after < len(occurrences) and occurrences.roles[after] == Role.TYPE:
            after += 1
        end = after
        while end < len(occurrences) and _begins_with(facts, end, behind, alone):
            end += 1
        if end > after or behind[occurrences.receivers[at]]:
            yield [*_written_at(facts, at), *(".".join(_written_at(facts, one)) for one in range(after, end))]


def _begins_with(facts: Facts, at: int, behind: list[bool], alone: list[bool]) -> bool:
    """Whether the expression at a place, receiver included, begins with one of some names."""
    number = facts.occurrences.receivers[at]
    return behind[number] if number and facts.receivers[number - 1] else alone[facts.occurrences.names[at]]


def _binds_around(facts: Facts) -> list[Bind]:
    scopes = _scopes_around(facts)
    return [bind for bind in facts.binds if bind.scope in scopes]


def _scopes_around(facts: Facts) -> set[int]:
    """All scopes that definitions stand in, and those around these."""
    scopes: set[int] = set()
    for scope in {0, *(item.scope for item in facts.definitions)}:
        while scope >= 0 and scope not in scopes:
            scopes.add(scope)
            scope = facts.scopes[scope].parent if facts.scopes else -1
    return scopes


def _written_members(facts: Facts) -> Iterator[list[object]]:
    """The members that get a value behind something, with all that the file says of what that is."""
    occurrences = facts.occurrences
    if not facts.written:
        return
    owner_by_body = {item.body: at for at, item in enumerate(facts.definitions) if item.body >= 0}
    binds: dict[tuple[int, str], list[Bind]] = {}
    for bind in facts.binds:
        binds.setdefault((bind.scope, bind.name), []).append(bind)
    for at in places(occurrences.roles, Role.WRITE):
        if occurrences.receivers[at] and not occurrences.targets[at]:
            receiver, scope = facts.receivers[occurrences.receivers[at] - 1], occurrences.scopes[at]
            meanings, function = _meanings_of(facts, binds, receiver, scope), -1
            while scope >= 0 and (scope, _first_name(receiver)) not in binds:
                scope = facts.scopes[scope].parent
            while scope >= 0 and function < 0:
                function, scope = owner_by_body.get(scope, -1), facts.scopes[scope].parent
            yield [occurrences.texts[occurrences.names[at]], receiver, function, meanings]


def _meanings_of(
    facts: Facts, bound: dict[tuple[int, str], list[Bind]], text: str, scope: int
) -> list[list[object]]:
    """What a file says of the name that a text begins with, and of those that its value comes from."""
    meanings: list[list[object]] = []
    waiting, mores = [(text, scope)], {(text, scope)}
    for text, scope in waiting:
        while scope >= 0 and (scope, _first_name(text)) not in bound:
            scope = facts.scopes[scope].parent
        for one in bound.get((scope, _first_name(text)), ()):
            meanings.append([one.reason, one.target, one.certain, one.type_name])
            more = (one.type_name, one.scope)
            if one.type_name and more not in mores:
                mores.add(more)
                waiting.append(more)
    return meanings


def _first_name(text: str) -> str:
    """The name that an expression begins with, behind `await` and the like."""
    return text.rpartition(" ")[2].partition(".")[0].removesuffix(MADE)


def _enclosing_definition(facts: Facts, line: int) -> int:
    """The innermost definition that a line is in, or -1."""
    around = [
        at for at, one in enumerate(facts.definitions) if one.span.start_line <= line <= one.span.end_line
    ]
    return around[-1] if around else -1
