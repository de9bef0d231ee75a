"""The digest of what one file may know of another: it changes exactly when that does.

Meanings are kept from one epoch to the next as long as no file shows others anything new. The digest is taken
of the fields of the protocols in `languages.foreign`, as which code reads the records of another file. What
follows from bodies and is read of another file all the same is a column of its own, made by the function that
readers use as well.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Final, NamedTuple

from codeplane.languages.facts import (
    MADE,
    Bind,
    Definition,
    Facts,
    Occurrences,
    Reason,
    Role,
    Span,
    places,
)
from codeplane.languages.foreign import (
    ForeignBind,
    ForeignDefinition,
    ForeignExport,
    ForeignImport,
    ForeignScope,
)

_Row = Sequence[object]
_TestRow = tuple[str, str, int, tuple[str, ...]]

_IN_BODY: Final = -2  # instead of the number of a scope that no definition stands in
MANY: Final = 1_000_000  # instead of the width of what takes several lines


_SCOPES: Final = ("scope", "body")  # fields that number scopes; of a scope, `parent` does


def fields_of(record: type) -> tuple[str, ...]:
    """The fields that a protocol lets others read."""
    return tuple(name for name, value in vars(record).items() if isinstance(value, property))


class _Columns:
    """All fields of the records of one protocol. Numbers of scopes are given as others may know them."""

    def __init__(self, record: type, scopes: Sequence[str] = _SCOPES) -> None:
        self._plain = attrgetter(*[name for name in fields_of(record) if name not in scopes])
        self._scopes = [attrgetter(name) for name in fields_of(record) if name in scopes]

    def of(self, items: Iterable[object], numbers: dict[int, int]) -> Sequence[_Row]:
        items, number = list(items), numbers.get
        scopes = [[number(at, _IN_BODY) for at in map(scope, items)] for scope in self._scopes]
        return [[*map(self._plain, items)], *scopes]


_DEFINITION: Final = _Columns(ForeignDefinition)
_IMPORT: Final = _Columns(ForeignImport)
_BIND: Final = _Columns(ForeignBind)
_EXPORT: Final = _Columns(ForeignExport)
_SCOPE: Final = _Columns(ForeignScope, ("parent",))


class ForeignFacts(NamedTuple):
    """The facts of a file without what stands in bodies alone."""

    state: str
    package: str
    scopes: Sequence[_Row]
    definitions: Sequence[_Row]
    imports: Sequence[_Row]
    exports: Sequence[_Row]
    binds: Sequence[_Row]
    parameters: Sequence[_Row]
    deeper: list[int]
    reserved_widths: Sequence[_Row]
    decorators: Sequence[_Row]
    setters: Sequence[_Row]
    # What is asked of values behind which others see the results of calls.
    type_tests: Sequence[_Row]
    rebound: Sequence[_Row]
    # The members that get a value behind something, with all that the file says of what that is.
    writes: Sequence[_Row]

    def digest(self) -> str:
        return hashlib.sha256(json.dumps(self).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def foreign_facts(facts: Facts) -> ForeignFacts:
    """What others can see of a file; where things stand is not among it."""
    # Scopes are counted among those that definitions stand in: others come and go with bodies.
    around = sorted(_scopes_around(facts))
    numbers = {-1: -1, **{scope: at for at, scope in enumerate(around)}}
    binds = [one for one in facts.binds if one.scope in numbers]
    parameters = parameters_of(
        (one.scope, (one.line, one.column), one.name) for one in facts.binds if one.reason == Reason.PARAM
    )
    return ForeignFacts(
        facts.state,
        facts.package,
        _SCOPE.of(map(facts.scopes.__getitem__, around) if facts.scopes else (), numbers),
        _DEFINITION.of(facts.definitions, numbers),
        _IMPORT.of(facts.imports, numbers),
        _EXPORT.of(facts.exports, numbers),
        _BIND.of(binds, numbers),
        [parameters.get(scope, ()) for scope in (*(one.body for one in facts.definitions), *around)],
        sorted(deeper_definitions(facts.definitions)),
        [*map(list, reserved_widths(facts.definitions).items())],
        [
            decorators_of(one, facts.receivers, facts.occurrences)
            for one in facts.definitions
            if one.span.start_line < one.name_line
        ],
        [
            [d.literals, d.computed, _definitions_around(facts, d.line)]
            for d in facts.dynamics
            if d.pattern == "setattr"
        ],
        [*sorted(_type_tests(facts, binds, numbers))],
        _rebound_parameters(facts, binds, numbers),
        sorted(_written_members(facts)),
    )


def parameters_of(
    binds: Iterable[tuple[int, tuple[int, int], str]],
) -> dict[int, tuple[str, ...]]:
    """Scope → the names of its parameters in order, of binds as scope, position and name."""
    names: dict[int, list[str]] = {}
    for scope, _, name in sorted(binds):
        names.setdefault(scope, []).append(name)
    return {scope: tuple(some) for scope, some in names.items()}


def deeper_definitions(items: Sequence[Definition]) -> frozenset[int]:
    """The definitions with a body that stand deeper than something beside them: what is made under a
    condition, where the language is indented."""
    columns: dict[int, int] = {}
    for item in items:
        columns[item.parent] = min(item.span.start_column, columns.get(item.parent, item.span.start_column))
    return frozenset(
        at
        for at, item in enumerate(items)
        if item.body >= 0 and item.parent >= 0 and item.span.start_column > columns[item.parent]
    )


def reserved_widths(items: Iterable[Definition]) -> dict[int, int]:
    """The members with a name like `__slots__`, which languages give a meaning, and the columns that each
    takes, MANY for several lines."""
    return {
        at: _width(item.span)
        for at, item in enumerate(items)
        if item.parent >= 0 and item.body < 0 and item.name[:2] == item.name[-2:] == "__"
    }


def _width(span: Span) -> int:
    return span.end_column - span.start_column if span.start_line == span.end_line else MANY


def decorators_of(item: Definition, receivers: Sequence[str], occurrences: Occurrences) -> list[str]:
    """The dotted name on each line before that of a definition's own, or ""."""
    lines, column = range(item.span.start_line, item.name_line), item.span.start_column + 1
    return [_dotted_name_at(receivers, occurrences, line, column) for line in lines]


def _dotted_name_at(receivers: Sequence[str], occurrences: Occurrences, line: int, column: int) -> str:
    """The dotted name that begins at a place, or ""."""
    names: list[str] = []
    while standing := occurrences.standing(line, column):
        name, occurrence = standing
        before = receivers[occurrence.receiver - 1] if occurrence.receiver else ""
        if before != ".".join(names):
            break
        names.append(name)
        column += len(name.encode("utf-8", "surrogateescape")) + 1
    return ".".join(names)


class TypeTest(NamedTuple):
    """A call that may ask what its receiver or its first argument is."""

    holder: str  # what it is called on
    name: str
    bind: int  # the bind that is its first argument, or -1
    values: list[str]  # the first argument, and what that begins with where it may stand alone


def type_test(receivers: Sequence[str], occurrences: Occurrences, call: int) -> TypeTest:
    """What a call gives to a function that may ask for its type."""
    number, alone = occurrences.receivers[call], name_alone(occurrences, call)
    return TypeTest(
        receivers[number - 1].replace("?", "") if number else "",
        occurrences.texts[occurrences.names[call]],
        occurrences.targets[alone] - 1 if alone >= 0 else -1,
        list(_first_argument(receivers, occurrences, call)),
    )


def name_alone(occurrences: Occurrences, call: int) -> int:
    """The occurrence right behind the parenthesis of a call, or -1 where a member of it is meant."""
    at, starts, start = call + 1, occurrences.starts, _inside_call(occurrences, call)
    if at == len(starts) or starts[at] != start or occurrences.receivers[at]:
        return -1
    end = start + len(occurrences.texts[occurrences.names[at]].encode("utf-8", "surrogateescape")) + 1
    has_member = at + 1 < len(starts) and starts[at + 1] == end and bool(occurrences.receivers[at + 1])
    return -1 if has_member else at


def _inside_call(occurrences: Occurrences, call: int) -> int:
    """The byte behind the parenthesis of a call."""
    name = occurrences.texts[occurrences.names[call]]
    return occurrences.starts[call] + len(name.encode("utf-8", "surrogateescape")) + 1


def _first_argument(receivers: Sequence[str], occurrences: Occurrences, call: int) -> Iterator[str]:
    at, opening, count = call + 1, _inside_call(occurrences, call), len(occurrences)
    while at < count and occurrences.roles[at] == Role.TYPE:
        at += 1
    value = ""
    while at < count:
        number, name = occurrences.receivers[at], occurrences.texts[occurrences.names[at]]
        before = receivers[number - 1].replace("?", "") if number else ""
        if value and before != value:
            break
        # `this` is no name: what is behind it may be written later.
        if before and not value and occurrences.starts[at] != opening + len(before.encode()) + 1:
            yield before
        value = f"{before}.{name}" if before else name
        at += 1
    if value:
        yield value


def _type_tests(facts: Facts, binds: Sequence[Bind], numbers: dict[int, int]) -> Iterator[_TestRow]:
    """What code asks of the values behind which others see the results of calls: `x instanceof A`, and every
    call that is on one or begins with one, for it may ask as well."""
    results = [bind.type_name for bind in binds] + [d.annotation for d in facts.definitions]
    heads = {_first_name(text) for text in results if text.endswith(MADE) and "." in text}
    yield from ((one, "", 0, ()) for one in facts.asked if _first_name(one.partition(" ")[0]) in heads)
    if not heads:
        return
    occurrences = facts.occurrences
    # Worked out once for each text: a file has many more names than texts.
    behind = ["" in heads, *(_first_name(text).rstrip("?") in heads for text in facts.receivers)]
    alone = [_first_name(text).rstrip("?") in heads for text in occurrences.texts]
    names, receivers, roles, count = (
        occurrences.names,
        occurrences.receivers,
        occurrences.roles,
        len(occurrences),
    )
    for at in places(roles, Role.CALL):
        begins = behind[receivers[at]]
        if not begins:
            after = at + 1
            while after < count and roles[after] == Role.TYPE:
                after += 1
            # The expression, receiver included, begins with one of the names.
            number = receivers[after] if after < count else 0
            is_member = number and facts.receivers[number - 1]
            begins = after < count and (behind[number] if is_member else alone[names[after]])
        if begins:
            test = type_test(facts.receivers, occurrences, at)
            scope = numbers.get(facts.binds[test.bind].scope, _IN_BODY) if test.bind >= 0 else -1
            yield test.holder, test.name, scope, tuple(test.values)


def rebound_names(occurrences: Occurrences) -> frozenset[int]:
    """The binds that code gives another value."""
    writes = places(occurrences.roles, Role.WRITE)
    return frozenset(occurrences.targets[at] - 1 for at in writes if not occurrences.receivers[at])


def _rebound_parameters(facts: Facts, binds: Sequence[Bind], numbers: dict[int, int]) -> Sequence[_Row]:
    if not any(one.reason == Reason.PARAM for one in binds):
        return []
    items = [facts.binds[at] for at in rebound_names(facts.occurrences) if at >= 0]
    return sorted(
        [numbers[one.scope], one.name] for one in items if one.reason == Reason.PARAM and one.scope in numbers
    )


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


def _definitions_around(facts: Facts, line: int) -> list[int]:
    """The definitions that a line is in, the outermost first."""
    return [
        at for at, one in enumerate(facts.definitions) if one.span.start_line <= line <= one.span.end_line
    ]
