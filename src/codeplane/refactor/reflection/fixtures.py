"""Definitions that a runner of tests hands to whoever has a parameter of their name."""

import re
from collections.abc import Iterator
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.graph.places import flags_of
from codeplane.languages.facts import FLAG_TEST
from codeplane.names import Codebase
from codeplane.refactor.reflection.decorators import marked_text
from codeplane.refactor.text import Lines
from codeplane.refactor.variables import Variable, variables_in

_LOOK: Final = 200
# A fixture that is given values by its name.
_GIVEN: Final = rb"""parametrize\(\s*\[?["'][^"']*\bNAME\b(?:(?!\bdef\b|@)[\s\S]){0,600}?\bindirect\b"""


def is_fixture(snapshot: Codebase, place: Place) -> bool:
    """Whether a definition is handed on by its own name, and it is known to whom.

    It is not where another fixture has the name, where tests ask for it that only a plugin may hand it to,
    and where it is given values by its name.
    """
    if not _is_marked(snapshot, place):
        return False
    name = snapshot.definition(place).name
    if any(one != place and _is_marked(snapshot, one) for one in snapshot.definitions(name)):
        return False
    scope = set(_reached(snapshot, place))
    beyond = [one for one in snapshot.paths_with(name) if one not in scope]
    if any(True for path in beyond for _ in _taking(snapshot, path, name)):
        return False
    pattern = re.compile(_GIVEN.replace(rb"NAME", re.escape(name.encode("utf-8", "surrogateescape"))))
    return not any(pattern.search(snapshot.source(path)) for path in scope)


def requested(snapshot: Codebase, place: Place) -> Iterator[Variable]:
    """The parameters that a fixture is handed to."""
    name = snapshot.definition(place).name
    for path in _reached(snapshot, place):
        yield from _taking(snapshot, path, name)


def _taking(snapshot: Codebase, path: RepoPath, name: str) -> Iterator[Variable]:
    """The parameters of tests and fixtures of a file that a fixture of a name is handed to."""
    facts = snapshot.facts(path)
    own = re.compile(rf"""["'][^"']*\b{re.escape(name)}\b""")
    for at in range(len(facts.definitions)) if facts is not None else ():
        taker = Place(path, at)
        if not flags_of(snapshot, taker) & FLAG_TEST and not _is_marked(snapshot, taker):
            continue
        variables = variables_in(snapshot, taker, name)
        # A test that has values for it of its own is not handed the fixture.
        if variables and variables[0].is_parameter and not own.search(marked_text(snapshot, taker)):
            yield variables[0]


def requesting_texts(snapshot: Codebase, place: Place) -> Iterator[tuple[RepoPath, int, int]]:
    """The texts by which tests ask for a fixture: path, line and column of the name."""
    facts = snapshot.require_facts(place.path)
    fixtures = facts.spec.testing.fixtures
    pattern = "|".join(fixtures.requesting_calls) if fixtures is not None else ""
    name = snapshot.definition(place).name.encode("utf-8", "surrogateescape")
    literal = re.compile(rb"""["'](%b)["']""" % re.escape(name))
    for path in _reached(snapshot, place) if pattern else ():
        lines = Lines(snapshot.source(path))
        for one in literal.finditer(lines.data):
            before = lines.data[max(0, one.start() - _LOOK) : one.start()].decode("utf-8", "replace")
            if re.search(rf"(?:{pattern})\s*\((?:\s*[\"'][^\"']*[\"']\s*,)*\s*\Z", before):
                yield (path, *lines.position(one.start(1)))


def _reached(snapshot: Codebase, place: Place) -> list[RepoPath]:
    """The files whose tests may ask for a fixture and have its name in them."""
    facts = snapshot.require_facts(place.path)
    fixtures = facts.spec.testing.fixtures
    roots = fixtures.files if fixtures is not None else ()
    directory, _, file = place.path.rpartition("/")
    paths = snapshot.paths_with(snapshot.definition(place).name)
    inside = f"{directory}/" if directory else ""
    near = [one for one in paths if one == place.path or (file in roots and one.startswith(inside))]
    return sorted(one for one in near if snapshot.facts(one) is not None)


def _is_marked(snapshot: Codebase, place: Place) -> bool:
    facts = snapshot.require_facts(place.path)
    fixtures = facts.spec.testing.fixtures
    if fixtures is None or snapshot.definition(place).kind not in ("function", "method"):
        return False
    text = marked_text(snapshot, place)
    return re.search(fixtures.mark, text) is not None and not re.search(r"\bname\s*=", text)
