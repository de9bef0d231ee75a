"""What tests get without an import: fixtures of shared files, asked for by name or given to all."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.slots import InterfaceSlot
from codeplane.graph.diff.versions import FUNCTIONS
from codeplane.graph.import_links import Links, links_of
from codeplane.languages import specs
from codeplane.languages.facts import Import, Reason
from codeplane.languages.modules import module_rules
from codeplane.languages.rules.testing import Fixtures
from codeplane.names import Snapshot

_STRING: Final = re.compile(rb"[\"']([\w.]+)[\"']")
_FURTHEST: Final = 3  # imports from a shared file to one that has fixtures
_REQUESTED: Final = InterfaceSlot[tuple[str, int | None], frozenset[str]]("names that request fixtures")
_FIXTURES: Final = InterfaceSlot[tuple[str, int | None], tuple["Fixture", ...]]("fixtures of a file")


class Fixture(NamedTuple):
    place: Place
    name: str
    for_all: bool  # tests get it without asking
    needs: frozenset[str]  # the names of its parameters


class Shared(NamedTuple):
    """A file whose fixtures the tests in its directory and below get, and the files that it has them from."""

    path: RepoPath
    files: tuple[str, ...]

    @property
    def below(self) -> str:
        return self.path.rpartition("/")[0]


class Touched(NamedTuple):
    """What follows for the tests below a shared file when others of its files change."""

    shared: Shared
    distance: int  # imports from there to what changes
    names: frozenset[str]  # of the fixtures concerned
    is_for_all: bool


def shared_files(snapshot: Snapshot) -> list[Shared]:
    """The shared files of the view, in order."""
    names = {name for one in specs().values() if one.testing.fixtures for name in one.testing.fixtures.files}
    by_name = snapshot.layout.by_name
    paths = sorted(path for name in names for path in by_name.get(name, ()))
    links = links_of(snapshot) if paths else None
    return [Shared(path, _files(snapshot, links, path)) for path in paths if links is not None]


def _files(snapshot: Snapshot, links: Links, path: str) -> tuple[str, ...]:
    """A shared file, what it names as plugins, and what these import."""
    matches = dict.fromkeys((path, *_plugins(snapshot, path)))
    level = list(matches)
    for _ in range(_FURTHEST):
        level = [
            one
            for file in level
            for one in sorted(links.imports.get(file, ()))
            if one not in matches and fixtures_in(snapshot, one)
        ]
        matches |= dict.fromkeys(level)
    return tuple(matches)


def _plugins(snapshot: Snapshot, path: str) -> Iterator[str]:
    """The files that a shared file names in a list of modules."""
    facts, sharing = snapshot.facts(path), _sharing(snapshot, path)
    rules = module_rules(facts.language) if facts is not None else None
    if rules is None or sharing is None or not snapshot.occurrences(path, sharing.plugin_variable):
        return
    assignment = re.search(
        rb"(?m)^" + sharing.plugin_variable.encode() + rb"\s*[:=](?:[^\n]*[\[(][^\])]*[\])]|[^\n]*)",
        _source(snapshot, path),
    )
    for module in _STRING.findall(assignment[0]) if assignment is not None else ():
        item = Import(0, "", module.decode(), "", "", 1, 0)
        yield from (place.path for place in snapshot.module_places(path, item))


def touched(
    snapshot: Snapshot, shared: Collection[Shared], distances: Mapping[str, int]
) -> Iterator[Touched]:
    """The shared files from which imports lead to changed files, with the fixtures that this concerns."""
    for one in shared:
        from_here = [path for path in one.files if path in distances]
        if not from_here:
            continue
        distance = min(distances[path] for path in from_here)
        fixtures = [fixture for path in one.files for fixture in fixtures_in(snapshot, path)]
        own_fixtures = [fixture for fixture in fixtures if fixture.place.path in from_here]
        names = _with_users({fixture.name for fixture in own_fixtures}, fixtures)
        is_for_all = any(fixture.for_all for fixture in fixtures if fixture.name in names)
        is_for_all |= any(_has_hooks(snapshot, path) for path in from_here)
        yield Touched(one, distance, names, is_for_all)


def _with_users(names: set[str], fixtures: Collection[Fixture]) -> frozenset[str]:
    """The names of fixtures, and of those that need them."""
    closure = set(names)
    while more := {one.name for one in fixtures if one.needs & closure} - closure:
        closure |= more
    return frozenset(closure)


def _has_hooks(snapshot: Snapshot, path: str) -> bool:
    facts = snapshot.facts(path)
    pattern = facts.spec.testing.framework_hooks if facts is not None else ""
    items = facts.definitions if facts is not None and pattern else ()
    return any(item.parent < 0 and re.fullmatch(pattern, item.name) for item in items)


def asked_in(snapshot: Snapshot, path: str) -> frozenset[str]:
    """The names that a file may ask for fixtures by: those of its parameters, and those in words."""
    key = (path, snapshot.layout.blobs.get(path))
    requests = snapshot.answers(_REQUESTED)
    if key not in requests:
        facts, sharing = snapshot.facts(path), _sharing(snapshot, path)
        names: set[str] = set()
        if facts is not None and sharing is not None:
            names |= {facts.binds[at].name for at in facts.binds.of(Reason.PARAM)}
            names |= _asked_in_words(snapshot, path, sharing)
        requests[key] = frozenset(names)
    return requests[key]


def _asked_in_words(snapshot: Snapshot, path: str, sharing: Fixtures) -> set[str]:
    if not any(snapshot.occurrences(path, word) for word in sharing.requesting_calls):
        return set()
    calls = re.findall(
        rf"(?:{'|'.join(sharing.requesting_calls)})\(([^)]*)".encode(), _source(snapshot, path)
    )
    return {name.decode() for call in calls for name in _STRING.findall(call)}


def asking_for(snapshot: Snapshot, place: Place) -> Iterator[Place]:
    """The tests and fixtures that get a definition by asking for its name; files where no function does."""
    fixtures = [one for one in fixtures_in(snapshot, place.path) if one.place == place]
    if not fixtures:
        return
    directories = [one.below for one in shared_files(snapshot) if place.path in one.files]
    for path in snapshot.paths_with(fixtures[0].name):
        if path == place.path or any(is_in(path, directory) for directory in directories):
            yield from _asking_in(snapshot, path, fixtures[0].name)


def _asking_in(snapshot: Snapshot, path: str, name: str) -> Iterator[Place]:
    facts, sharing = snapshot.facts(path), _sharing(snapshot, path)
    if facts is None or sharing is None:
        return
    for at in facts.binds.of(Reason.PARAM):
        if facts.binds[at].name == name and facts.binds.scope(at) in facts.opened_by:
            yield Place(RepoPath(path), facts.opened_by[facts.binds.scope(at)])
    if name in _asked_in_words(snapshot, path, sharing):
        yield Place(RepoPath(path))


def is_in(path: str, directory: str) -> bool:
    """Whether a file is in a directory or below; "" is the repository."""
    return not directory or path.startswith(f"{directory}/")


def fixtures_in(snapshot: Snapshot, path: str) -> tuple[Fixture, ...]:
    """The fixtures that a file defines."""
    key = (path, snapshot.layout.blobs.get(path))
    fixtures = snapshot.answers(_FIXTURES)
    if key not in fixtures:
        sharing = _sharing(snapshot, path)
        is_there = sharing is not None and snapshot.occurrences(path, sharing.word)
        fixtures[key] = tuple(_found(snapshot, path, sharing)) if sharing and is_there else ()
    return fixtures[key]


def _sharing(snapshot: Snapshot, path: str) -> Fixtures | None:
    facts = snapshot.facts(path)
    return facts.spec.testing.fixtures if facts is not None else None


def _found(snapshot: Snapshot, path: str, sharing: Fixtures) -> Iterator[Fixture]:
    facts = snapshot.require_facts(path)
    lines = _source(snapshot, path).split(b"\n")
    parameters: dict[int, set[str]] = {}
    for at in facts.binds.of(Reason.PARAM):
        parameters.setdefault(facts.binds.scope(at), set()).add(facts.binds[at].name)
    for number, item in enumerate(facts.definitions):
        head = b"\n".join(lines[item.span.start_line - 1 : item.name_line]).decode("utf-8", "replace")
        mark = re.search(sharing.mark, head) if item.kind in FUNCTIONS else None
        if mark is not None:
            name = re.search(r"\bname\s*=\s*[\"'](\w+)[\"']", head)
            for_all = re.search(sharing.for_all, head) is not None
            needs = frozenset(parameters.get(item.body, ()))
            yield Fixture(Place(RepoPath(path), number), name[1] if name else item.name, for_all, needs)


def _source(snapshot: Snapshot, path: str) -> bytes:
    return snapshot.source(RepoPath(path))
