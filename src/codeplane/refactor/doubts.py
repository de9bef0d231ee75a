"""What facts cannot rule out about a name: that something else calls by it."""

import re
from collections.abc import Iterator
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.graph.places import definition_of, flags_of
from codeplane.index import Snapshot
from codeplane.languages import specs
from codeplane.languages.facts import FLAG_TEST
from codeplane.languages.modules import Place
from codeplane.refactor.family import Family
from codeplane.refactor.plan import Problem
from codeplane.refactor.text import Lines

_DECORATOR: Final = re.compile(r"^\s*@\s*([\w.]+)", re.MULTILINE)
_MOST_DYNAMIC: Final = 100
_NAMED: Final = frozenset("class function method interface struct enum trait".split())
_ASKING: Final = frozenset("getattr setattr hasattr delattr bracket_access reflect".split())


def doubts(snapshot: Snapshot, family: Family) -> Iterator[Problem]:
    """Reasons for which a rename that is proven in itself may still break something."""
    yield from family.doubts
    yield from _asked_by_name(snapshot, family)
    for place in sorted(family.places):
        yield from _decorated(snapshot, place)
        if family.is_member:
            yield from _dynamic(snapshot, place)
    if family.is_local:
        for place in sorted(family.functions):
            yield from _decorated(snapshot, place)
            if flags_of(snapshot, place) & FLAG_TEST:
                item = definition_of(snapshot, place)
                text = f"What runs the tests may give {item.name} its arguments by name."
                yield Problem("test", text, RepoPath(place.path), item.name_line)


def _asked_by_name(snapshot: Snapshot, family: Family) -> Iterator[Problem]:
    """Code that asks definitions for their names and makes other names out of them, which there are."""
    sources = snapshot.linker.sources
    if family.kind not in _NAMED or not _is_part_of_another(snapshot, family.name):
        return
    facts = sources.facts(min(family.places).path)
    assert facts is not None, "BUG: a definition has a file"
    for attribute in specs()[facts.language].name_attributes:
        for path in sources.paths_with(attribute):
            asks = [seen for seen in sources.occurrences(path, attribute) if seen.receiver]
            if asks and _computed(snapshot, RepoPath(path)) is not None:
                text = f"`{attribute}` is read where names are made at run time."
                yield Problem("dynamic", text, RepoPath(path), asks[0].line)
                return


def _is_part_of_another(snapshot: Snapshot, name: str) -> bool:
    part = name.lower()
    return any(part in other.lower() and other != name for other in snapshot.linker.sources.defined_names())


def _decorated(snapshot: Snapshot, place: Place) -> Iterator[Problem]:
    """Decorators may keep what they decorate under its name: fixtures, commands, routes."""
    facts = snapshot.linker.sources.facts(place.path)
    assert facts is not None, "BUG: a definition has a file"
    item = definition_of(snapshot, place)
    if item.span.start_line == item.name_line:
        return
    lines = Lines(snapshot.source(RepoPath(place.path)))
    above = "\n".join(lines.text(line) for line in range(item.span.start_line, item.name_line))
    plain = specs()[facts.language].plain_decorators
    for name in dict.fromkeys(_DECORATOR.findall(above)):
        if name.rsplit(".", 1)[-1] not in plain:
            text = f"`@{name}` may keep {item.name} under its name."
            yield Problem("decorated", text, RepoPath(place.path), item.name_line)


def _dynamic(snapshot: Snapshot, place: Place) -> Iterator[Problem]:
    """Members that are asked for by names made at run time, in the file of the class."""
    if (line := _computed(snapshot, RepoPath(place.path))) is not None:
        text = "Members are asked for by names that are made at run time."
        yield Problem("dynamic", text, RepoPath(place.path), line)


def _computed(snapshot: Snapshot, path: RepoPath) -> int | None:
    """The line of a file where a member is asked for by a name that is made at run time."""
    found = snapshot.dynamics_in(path, _MOST_DYNAMIC).items
    return next((one.line for one in found if one.computed and one.pattern in _ASKING), None)
