"""Where a trace begins: a symbol, a request, or a command."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from codeplane.core.errors import AmbiguousSymbol, NotFound
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.core.suggest import nearest
from codeplane.graph.places import place_of, position, qualified
from codeplane.graph.trace import Region, Step, Tracer, Way
from codeplane.jail import shown
from codeplane.languages.facts import Role
from codeplane.languages.sites import Site, SiteKind, ValueKind
from codeplane.names import Snapshot
from codeplane.surfaces.definition_facts import DefinitionFacts
from codeplane.surfaces.endpoints import Endpoint, endpoints_of
from codeplane.surfaces.scope import own_files
from codeplane.surfaces.tracing.commands import Command, commands_called, commands_of
from codeplane.surfaces.tracing.route_match import matching, nearest_requests, read_request
from codeplane.surfaces.values import Evaluator

_MOST_CANDIDATES: Final = 10
_FUNCTIONS: Final = ("function", "method", "constructor")


@dataclass
class Entry:
    """Where a trace begins, and what leads there."""

    name: str
    regions: list[Region]
    place: Place | None = None
    route: str | None = None
    at: str = ""  # where the route or command is
    before: list[Step] = field(default_factory=list)  # what runs before it
    endpoint: Endpoint | None = None
    line: int = 0  # of the route or command


class EntryFinder:
    """Finds entry points in one state of the code."""

    def __init__(self, snapshot: Snapshot, facts: DefinitionFacts) -> None:
        self._snapshot, self._facts = snapshot, facts
        self._tracer, self._evaluator = Tracer(snapshot), Evaluator(snapshot)

    def find(self, text: str) -> Entry:
        """The entry point that a text names; an error with candidates or the nearest ones else."""
        text = text.strip()
        if " " not in text and not text.startswith("/"):
            return self._symbol_or_command(text)
        endpoints = endpoints_of(self._snapshot).endpoints
        request = read_request(text, {one.method for one in endpoints})
        return self._of_request(endpoints, *request) if request is not None else self._of_command(text)

    # Symbols

    def _symbol_or_command(self, text: str) -> Entry:
        try:
            place = place_of(self._snapshot.symbol(text))
        except (NotFound, AmbiguousSymbol) as error:
            commands = commands_called(commands_of(self._snapshot), text)
            if len(commands) == 1:
                return self._entry_of_command(commands[0])
            endpoint = self._operation(text)
            if endpoint is not None:
                return self._entry_of_endpoint(endpoint)
            raise error
        return self._of_place(place)

    def _of_place(self, place: Place) -> Entry:
        endpoints = self._facts.endpoints_by_handler().get(place, [])
        routes = list(dict.fromkeys(f"{one.method} {one.route}" for one in endpoints))
        entry = Entry(qualified(self._snapshot, place), [self._tracer.region(place)], place)
        if endpoints:
            entry.route, entry.endpoint = ", ".join(routes), endpoints[0]
            entry.line = endpoints[0].line if endpoints[0].path == place.path else 0
            entry.before = self._before(endpoints[0], entry.regions)
        return entry

    def _operation(self, text: str) -> Endpoint | None:
        """The one operation of a service or schema that is called like this: `UserService/GetUser`."""
        tail = text.strip("/")
        rows = [
            one
            for one in endpoints_of(self._snapshot).endpoints
            if "/" in tail and (one.route.strip("/") == tail or one.route.endswith(f"/{tail}"))
        ]
        return rows[0] if len({one.handler for one in rows}) == 1 else None

    # Requests

    def _of_request(self, endpoints: Sequence[Endpoint], method: str, path: str) -> Entry:
        is_own = own_files(self._snapshot)
        own = [one for one in endpoints if is_own(one.path)]
        rows = matching(own, method, path) or matching(endpoints, method, path)
        request_text = f"{method} {path}".strip()
        if not rows:
            near = nearest_requests(own or endpoints, method, path, _MOST_CANDIDATES)
            hints = [f"The nearest: {', '.join(near)}"] if near else []
            hints += (
                [] if endpoints else ["No endpoint of this repository is known: surfaces_list_endpoints."]
            )
            raise NotFound(f"No endpoint serves {request_text!r}.", hints=hints, nearest=near)
        handlers = {(one.handler, one.path, one.line if one.handler is None else 0): one for one in rows}
        if len(handlers) > 1:
            candidates = [self._candidate(one) for one in handlers.values()]
            raise AmbiguousSymbol(
                f"{len(handlers)} endpoints serve {request_text!r}.",
                hints=[f"Name one: {'; '.join(candidates[:_MOST_CANDIDATES])}"],
                candidates=candidates,
            )
        return self._entry_of_endpoint(rows[0], rows)

    def _candidate(self, one: Endpoint) -> str:
        handler = qualified(self._snapshot, one.handler) if one.handler is not None else ""
        return " ".join(filter(None, (f"{one.method} {one.route}", handler, f"{shown(one.path)}:{one.line}")))

    def _entry_of_endpoint(self, one: Endpoint, rows: Sequence[Endpoint] = ()) -> Entry:
        route = ", ".join(dict.fromkeys(f"{row.method} {row.route}" for row in rows or (one,)))
        if one.handler is not None:
            regions = [self._tracer.region(one.handler)]
            name = qualified(self._snapshot, one.handler)
        else:
            inline = self._inline_function(one)
            if inline is None:
                raise NotFound(
                    f"What handles {route} is not in the repository, or only known at run time.",
                    hints=[f"The route is at {shown(one.path)}:{one.line}."],
                )
            regions, name = [inline], f"(function in {shown(one.path)}:{one.handler_line or one.line})"
        at = f"{shown(one.path)}:{one.line}"
        entry = Entry(name, regions, one.handler, route, at, endpoint=one, line=one.line)
        entry.before = self._before(one, regions)
        return entry

    def _route_sites(self, one: Endpoint) -> Iterator[Site]:
        """The calls that a route is written with."""
        for site in self._evaluator.sites(one.path).sites:
            if site.kind is SiteKind.CALL and site.value.kind is ValueKind.CALL:
                lines = {self._evaluator.line_of(one.path, at) for at in (site.start, site.value.start)}
                if one.line in lines:
                    yield site

    def _inline_function(self, one: Endpoint) -> Region | None:
        """A handler that is written in place: the last function among the arguments of the route."""
        for site in self._route_sites(one):
            functions = [item for item in site.value.walk() if item.kind is ValueKind.FUNCTION]
            if functions and functions[-1].start >= 0:
                return Region(one.path, None, functions[-1].start, site.end)
        return None

    def _before(self, one: Endpoint, regions: Sequence[Region]) -> list[Step]:
        """The functions that the route and the mounts on its way name beside the handler."""
        steps: dict[Place, Step] = {}
        handlers = {one.handler, *(region.place for region in regions)}
        places = [(step.path, step.line) for step in one.chain]
        if one.handler is None or one.handler.path != one.path or not self._is_decorated(one):
            places.append((one.path, one.line))
        for path, line in places:
            for site in self._evaluator.sites(path).sites:
                if site.kind is not SiteKind.CALL or self._evaluator.line_of(path, site.start) != line:
                    continue
                last = next((r.first for r in regions if r.place is None and r.path == path), site.end)
                for step in self._functions_between(path, site.start, min(site.end, last), line):
                    if step.callee not in handlers:
                        steps.setdefault(step.callee, step)
                break
        return list(steps.values())

    def _is_decorated(self, one: Endpoint) -> bool:
        """Whether the route is written above its handler: the header of that says all of it."""
        assert one.handler is not None, "BUG: asked of routes with a handler"
        definition = self._snapshot.definition(one.handler)
        return definition.span.start_line <= one.line <= definition.item.name_line

    def _functions_between(self, path: RepoPath, first: int, last: int, line: int) -> Iterator[Step]:
        occurrences = self._snapshot.all_occurrences(path)
        start = bisect_left(occurrences.starts, first)
        for at in range(start, bisect_left(occurrences.starts, last)):
            if occurrences.roles[at] not in (Role.READ, Role.CALL):
                continue
            name = occurrences.texts[occurrences.names[at]]
            meaning = self._snapshot.meaning(path, name, occurrences.at(at))
            target = meaning.target[0] if meaning.target else None
            if target is None or target.definition < 0 or meaning.tier not in (Tier.PROVEN, Tier.STRONG):
                continue
            if self._snapshot.definition_kind(target) in _FUNCTIONS:
                yield Step(target, meaning.tier, line, Way.MIDDLEWARE, owner=self._tracer.class_of(target))

    # Commands

    def _of_command(self, text: str) -> Entry:
        commands = commands_of(self._snapshot)
        rows = commands_called(commands, text)
        if not rows:
            near = nearest(text, [one.text for one in commands], most=_MOST_CANDIDATES)
            hints = [f"The nearest commands: {', '.join(near)}"] if near else []
            hints.append("An entry point is a symbol, `METHOD /path`, or a command.")
            raise NotFound(f"No endpoint or command is called {text!r}.", hints=hints, nearest=near)
        if len(rows) > 1:
            candidates = [f"{one.text} ({shown(one.path)}:{one.line})" for one in rows]
            raise AmbiguousSymbol(
                f"{len(rows)} commands are called {text!r}.",
                hints=[f"Name one: {'; '.join(candidates[:_MOST_CANDIDATES])}"],
                candidates=candidates,
            )
        return self._entry_of_command(rows[0])

    def _entry_of_command(self, one: Command) -> Entry:
        if one.place is not None:
            name = qualified(self._snapshot, one.place)
            region = self._tracer.region(one.place)
        else:
            name = shown(one.target or one.path)
            target = one.target or one.path
            region = Region(target, None, 0, len(self._snapshot.source(target)))
        at = f"{shown(one.path)}:{one.line}" if one.line else shown(one.path)
        return Entry(name, [region], one.place, f"$ {one.text}", at, line=one.line)


def entry_position(snapshot: Snapshot, entry: Entry) -> str:
    """`path:line` of the code that a trace begins with."""
    if entry.place is not None:
        return position(snapshot, entry.place)
    region = entry.regions[0]
    lines = snapshot.all_occurrences(region.path).lines
    number = max(1, bisect_left(lines, region.first + 1)) if region.first else 1
    return f"{shown(region.path)}:{number}"
