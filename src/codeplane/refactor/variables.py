"""Local variables and parameters: names that mean something in their function alone."""

from collections.abc import Iterator
from typing import NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.text import LineStarts
from codeplane.languages.facts import Occurrence, Reason, ScopeKind
from codeplane.names import Codebase, FileFacts

_REST = (b"*", b"...")  # marks before a parameter that gets what no other one does
_LOOK = 20
_VARIABLES = (Reason.PARAM, Reason.LOCAL_ASSIGN)


class Variable(NamedTuple):
    """A variable or parameter, by its file and where it is first bound."""

    path: RepoPath
    scope: int
    line: int
    column: int
    name: str
    is_parameter: bool


def variable_of(snapshot: Codebase, path: str, bind: int) -> Variable | None:
    """The variable that a bind is; None where it is a definition or an import."""
    facts = snapshot.require_facts(path)
    item = facts.binds[bind]
    if item.reason not in _VARIABLES:
        return None
    is_parameter = item.reason is Reason.PARAM
    return Variable(RepoPath(path), item.scope, item.line, item.column, item.name, is_parameter)


def variables_in(snapshot: Codebase, place: Place, name: str) -> list[Variable]:
    """The variables of a name in a definition, those of definitions inside of it aside."""
    facts = snapshot.require_facts(place.path)
    variables = dict.fromkeys(
        one
        for at, bind_name in enumerate(facts.binds.names)
        if bare(bind_name) == bare(name)
        and (one := variable_of(snapshot, place.path, at)) is not None
        and _opener(facts, one.scope) == place.definition
    )
    return sorted(variables, key=lambda one: (not one.is_parameter, one.line, one.column))


def twin(snapshot: Codebase, place: Place) -> Variable | None:
    """The parameter that is a member as well: `constructor(private size: number)`."""
    facts = snapshot.require_facts(place.path)
    item = facts.definitions[place.definition]
    for at in facts.binds.of(Reason.PARAM):
        line, column = facts.binds.position(at)
        sigil = len(facts.binds.names[at]) - len(bare(facts.binds.names[at]))
        if line == item.name_line and item.name_column in (column, column + sigil):
            return variable_of(snapshot, place.path, at)
    return None


def member_of(snapshot: Codebase, variable: Variable) -> Place | None:
    """The member that a parameter is as well."""
    facts = snapshot.require_facts(variable.path)
    for at, item in enumerate(facts.definitions):
        if bare(variable.name) == bare(item.name) and twin(snapshot, Place(variable.path, at)) == variable:
            return Place(variable.path, at)
    return None


def uses(snapshot: Codebase, variable: Variable) -> Iterator[tuple[Occurrence, bool]]:
    """Every occurrence that means a variable, and whether it is certain to."""
    facts = snapshot.require_facts(variable.path)
    for occurrence in snapshot.occurrences(variable.path, variable.name):
        if occurrence.target and not occurrence.receiver:
            bind = facts.binds[occurrence.target - 1]
            if (bind.scope, bind.line, bind.column) == (variable.scope, variable.line, variable.column):
                yield occurrence, bind.certain


def holder_of(snapshot: Codebase, variable: Variable) -> Place:
    """The innermost definition that a variable is in; the file where there is none."""
    return Place(variable.path, _opener(snapshot.require_facts(variable.path), variable.scope))


def is_argument(snapshot: Codebase, variable: Variable) -> bool:
    """Whether a variable is a parameter of a definition, and not of a function without a name."""
    return variable.is_parameter and variable.scope in snapshot.require_facts(variable.path).opened_by


def takes_rest(snapshot: Codebase, variable: Variable) -> bool:
    """Whether a parameter gets what no other one does: then no call can name it."""
    lines = LineStarts(snapshot.source(variable.path))
    at = lines.offset(variable.line, variable.column)
    return lines.data[max(0, at - _LOOK) : at].rstrip().endswith(_REST)


def bare(name: str) -> str:
    """A name without the mark that says what it is a name of."""
    return name.lstrip("$@~") or name


def renamed(name: str, new: str) -> str:
    """A new name with the mark of an old one."""
    return name[: len(name) - len(bare(name))] + bare(new)


def _opener(facts: FileFacts, scope: int) -> int:
    """The definition whose own code a scope is a part of."""
    while scope >= 0:
        if scope in facts.opened_by:
            return facts.opened_by[scope]
        if facts.scopes.kind(scope) is ScopeKind.FILE:
            return -1
        scope = facts.scopes.parent(scope)
    return -1
