"""What a refactoring is about: a definition, or a variable that has no name outside of its function."""

import re
from collections.abc import Iterator
from typing import Final

from codeplane.core.errors import AmbiguousSymbol, NotFound
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.graph.places import place_of, qualified
from codeplane.jail import shown
from codeplane.languages.facts import Occurrence, Reason
from codeplane.names import DefFact, Snapshot
from codeplane.refactor.rename_set import branches_of
from codeplane.refactor.variables import Variable, holder_of, member_of, variable_of, variables_in

Subject = DefFact | Variable

_AT_LINE: Final = re.compile(r"(?P<path>.+?):(?P<line>\d{1,9})(?::(?P<column>\d{1,9}))?\Z", re.DOTALL)
_LAST: Final = re.compile(r"(?P<around>.+)(?:::|->|[.#])(?P<name>[\w$@]+)\Z", re.DOTALL)
_CERTAIN: Final = (Tier.PROVEN, Tier.STRONG)
_MOST_TOLD: Final = 10


def find_subject(snapshot: Snapshot, text: str, name: str = "") -> Subject:
    """The definition or variable that a text names; with `name`, what goes by it at that line or in there."""
    if name and (match := _AT_LINE.match(text)):
        candidates = list(
            dict.fromkeys(_at_line(snapshot, RepoPath(match["path"]), int(match["line"]), name))
        )
        if match["column"]:
            candidates = [one for one in candidates if _column(one) == int(match["column"])] or candidates
        return _single(snapshot, f"{name} at {text}", candidates)
    if name:
        return _inside(snapshot, text, name)
    try:
        return snapshot.symbol(text)
    except AmbiguousSymbol as error:
        return _one_of_branches(snapshot, error)
    except NotFound:
        match = _LAST.match(text)
        if match is None or snapshot.exists(text):
            raise
        try:
            return _inside(snapshot, match["around"], match["name"])
        except NotFound:
            pass
        raise


def _one_of_branches(snapshot: Snapshot, error: AmbiguousSymbol) -> DefFact:
    """The first of the definitions in the branches of an `if` or a `try`, which are renamed together; where
    the name has others, it stays ambiguous."""
    rows = error.details["candidates"]
    assert isinstance(rows, list), "BUG: an ambiguous name has candidates"
    definitions = [one for one in (snapshot.definition_by_uid(row["uid"]) for row in rows) if one is not None]
    if not definitions or len(definitions) != error.details["total"]:
        raise error
    branches = branches_of(snapshot, place_of(definitions[0]))
    if not all(place_of(one) in branches for one in definitions):
        raise error
    return definitions[0]


def symbol_of(snapshot: Snapshot, subject: Subject) -> str:
    """The qualified name of a subject."""
    if isinstance(subject, Variable):
        return f"{qualified(snapshot, holder_of(snapshot, subject))}.{shown(subject.name)}"
    return qualified(snapshot, place_of(subject))


def _inside(snapshot: Snapshot, around: str, name: str) -> Subject:
    holder = snapshot.symbol(around)
    return _single(snapshot, f"{around}.{name}", list(variables_in(snapshot, place_of(holder), name)))


def _single(snapshot: Snapshot, query: str, candidates: list[Subject]) -> Subject:
    if not candidates:
        raise NotFound(f"Nothing is named {shown(query)!r}.")
    # A parameter has the name of its function's own; what hides it stands in a block inside.
    choice = (
        candidates[:1] if isinstance(candidates[0], Variable) and candidates[0].is_parameter else candidates
    )
    if len(choice) > 1:
        places = [f"{shown(one.path)}:{_line(one)}" for one in candidates[:_MOST_TOLD]]
        way = "`path:line`"
        if len(set(places)) < len(places):
            places = [f"{at}:{_column(one)}" for at, one in zip(places, candidates, strict=False)]
            way = "`path:line:column`"
        raise AmbiguousSymbol(
            f"{shown(query)!r} names {len(candidates)} things.",
            hints=[f"Name one by {way} and `name`."],
            candidates=places,
            total=len(candidates),
        )
    one = choice[0]
    if isinstance(one, Variable) and (place := member_of(snapshot, one)) is not None:
        return _definition(snapshot, place)
    return one


def _line(one: Subject) -> int:
    return one.line if isinstance(one, Variable) else one.name_line


def _column(one: Subject) -> int:
    return (one.column if isinstance(one, Variable) else one.name_column) + 1


def _at_line(snapshot: Snapshot, path: RepoPath, line: int, name: str) -> Iterator[Subject]:
    if not snapshot.exists(path):
        raise NotFound(f"There is no file {shown(path)!r}.")
    facts = snapshot.facts(path)
    for at, item in enumerate(facts.definitions if facts is not None else ()):
        if item.name == name and item.name_line == line:
            yield _definition(snapshot, Place(path, at))
    candidates = [
        one
        for spelling in (name, f"${name}")
        for occurrence in snapshot.occurrences(path, spelling)
        if occurrence.line == line and (one := _meant(snapshot, path, spelling, occurrence)) is not None
    ]
    yield from [one for one in candidates if isinstance(one, Variable) and one.line == line] or candidates


def _meant(snapshot: Snapshot, path: RepoPath, name: str, occurrence: Occurrence) -> Subject | None:
    facts = snapshot.require_facts(path)
    if occurrence.target and not occurrence.receiver:
        bind = facts.binds[occurrence.target - 1]
        if bind.reason in (Reason.PARAM, Reason.LOCAL_ASSIGN):
            return variable_of(snapshot, path, occurrence.target - 1)
    meaning = snapshot.meaning(path, name, occurrence)
    places = [place for place in meaning.target if place.definition >= 0]
    return _definition(snapshot, places[0]) if meaning.tier in _CERTAIN and places else None


def _definition(snapshot: Snapshot, place: Place) -> DefFact:
    definition = snapshot.definition_at(place.path, place.definition)
    assert definition is not None, "BUG: a definition that was found is there"
    return definition
