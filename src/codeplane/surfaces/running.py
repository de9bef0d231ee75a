"""Follows the calls of scripts from the top of each file, so that names stand for something at every site.

A function that is called twice is followed twice: its objects are different ones. One that nobody calls is
followed once, with nothing known of its parameters but their types.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.sites import Site, SiteKind, Value, ValueKind
from codeplane.names.meaning import UNRESOLVED
from codeplane.surfaces.functions import FILE, FunctionRef, calls_below
from codeplane.surfaces.kinds import ancestry
from codeplane.surfaces.script_values import function_values
from codeplane.surfaces.scripts import ScriptEvaluator
from codeplane.surfaces.values import Environment, Located, Origin, Thing, ThingKind

_DEEPEST: Final = 16
_MOST_TIMES: Final = 40  # that one function is followed
_MOST_RUNS: Final = 8_000
_MOST_LOOPED: Final = 200
_EACH: Final = frozenset({"forEach", "map", "flatMap", "some", "every", "reduce"})


class Entry(NamedTuple):
    """A function that a framework calls, and what it hands it first."""

    function: FunctionRef
    first: Thing


Meet = Callable[[RepoPath, Site, Environment], list[Entry]]


class ScriptRun:
    """One pass over the scripts that may use a framework."""

    def __init__(
        self,
        evaluator: ScriptEvaluator,
        paths: Set[RepoPath],
        meet: Meet,
        is_served: Callable[[Located], bool],
        start_entries: Sequence[Entry] = (),
    ) -> None:
        self._start_entries = start_entries
        self._evaluator, self._paths, self._meet, self._is_served = evaluator, paths, meet, is_served
        self._code = evaluator.code
        self._followed: set[tuple[object, ...]] = set()
        self._times: Counter[tuple[RepoPath, int]] = Counter()
        self._runs = 0
        self._names = self._called_names()

    def _called_names(self) -> set[str]:
        """What functions and classes of these files are called in them."""
        names = {"", "require"}
        for path in self._paths:
            facts = self._code.require_facts(path)
            names |= {item.name for item in facts.definitions if item.kind in ("function", "method", "class")}
            names |= {item.alias for item in facts.imports}
        return names

    def run(self) -> None:
        """Meets every site: first those at the top of files and what they call, then what nobody calls."""
        for path in sorted(self._paths):
            self._follow(FunctionRef(path, FILE, Environment()), Environment(), 0)
        for entry in self._start_entries:
            self._enter(entry, Located(entry.function.path, Value(ValueKind.CALL, start=-1)), 0)
        idle = list(self._idle_functions())
        callees = {one for path, scope, _ in idle for one in self._called_in(path, scope)}
        # One that another idle one calls is met from there, with more known of it.
        for path, scope, start in sorted(idle, key=lambda one: (one[:2] in callees, one[0], one[2])):
            if not self._times[path, scope]:
                for environment in self._idle_environments(path, start):
                    self._follow(FunctionRef(path, scope, Environment()), environment, 0)

    def _idle_functions(self) -> Iterator[tuple[RepoPath, int, int]]:
        """The functions that were not followed, with the byte that each begins with."""
        for path in self._paths:
            for scope, (start, _) in self._evaluator.functions(path).spans.items():
                if not self._times[path, scope]:
                    yield path, scope, start

    def _called_in(self, path: RepoPath, scope: int) -> Iterator[tuple[RepoPath, int]]:
        """The functions that a function calls, as far as it says so itself."""
        for site in self._evaluator.functions(path).sites_of.get(scope, ()):
            if site.kind is SiteKind.CALL and site.value.text in self._names:
                callee = self._evaluator.called(Located(path, site.value))
                ref = self._evaluator.function_of(self._evaluator.default_of(callee))
                if ref is not None and (ref.path, ref.scope) != (path, scope):
                    yield ref.path, ref.scope

    def _idle_environments(self, path: RepoPath, start: int) -> Iterator[Environment]:
        """What is known in a function that nobody calls; one in a class is of each class below too."""
        instance = self._evaluator.anonymous_instance(path, start)
        if instance.kind is not ThingKind.OBJECT:
            yield Environment()
            return
        place = instance.target[0]
        concrete = [
            below
            for below in self._code.extending(self._code.definition(place).name)
            if below.path in self._paths and place in list(ancestry(self._evaluator, below))[1:]
        ]
        for one in concrete or [place]:
            yield Environment(things={"this": Thing(ThingKind.OBJECT, target=(one,))})

    def _follow(self, ref: FunctionRef, environment: Environment, depth: int) -> None:
        key = (ref.path, ref.scope, *_key_of(environment))
        place = (ref.path, ref.scope)
        is_over = depth > _DEEPEST or self._times[place] >= _MOST_TIMES or self._runs >= _MOST_RUNS
        if key in self._followed or is_over:
            return
        self._followed.add(key)
        self._times[place] += 1
        self._runs += 1
        for site in self._evaluator.functions(ref.path).sites_of.get(ref.scope, ()):
            if site.kind is SiteKind.CALL:
                for here in self._loops(ref.path, site, environment):
                    self._call(ref.path, self._with_name(ref.path, site, here), here, depth)

    def _with_name(self, path: RepoPath, site: Site, environment: Environment) -> Site:
        """`router[verb](…)` as a call of the method that the key stands for."""
        lookup = site.value.receiver
        if site.value.text or lookup is None or lookup.kind is not ValueKind.CALL or lookup.text != "[]":
            return site
        key = lookup.items[1] if len(lookup.items) > 1 else None
        text = self._evaluator.text(Located(path, key, environment)) if key is not None else None
        if text is None:
            return site
        value = site.value._replace(text=text, items=(lookup.items[0], *site.value.arguments))
        return site._replace(value=value)

    def _loops(self, path: RepoPath, site: Site, environment: Environment) -> Iterator[Environment]:
        """The names at a site: one environment for each round of the loops that it is in."""
        if site.loop < 0:
            yield environment
            return
        loop = self._evaluator.sites(path).sites[site.loop]
        if self._evaluator.functions(path).at(loop.start) != self._evaluator.functions(path).at(site.start):
            yield environment
            return
        pattern = loop.name.removeprefix("const ").removeprefix("let ").removeprefix("var ").strip()
        for around in self._loops(path, loop, environment):
            rows = self._evaluator.items(Located(path, loop.value, around))
            if rows is None:
                yield around
            for row in (rows or ())[:_MOST_LOOPED]:
                yield _in_round(around, dict(_taken_apart(pattern, row)), row)

    def _call(self, path: RepoPath, site: Site, environment: Environment, depth: int) -> None:
        call = Located(path, site.value, environment)
        below = environment
        if site.is_conditional and not environment.is_conditional:
            below = Environment(environment.values, environment.calls, environment.things, True)
        entries = self._meet(path, site, environment)
        entry_keys = {(entry.function.path, entry.function.scope) for entry in entries}
        for entry in entries:
            self._enter(entry, call._replace(environment=below), depth)
        for function in function_values(site.value.arguments):
            ref = self._evaluator.function_of(self._evaluator.evaluate(Located(path, function, environment)))
            if ref is None:
                scope = self._evaluator.functions(path).by_start.get(function.start)
                ref = FunctionRef(path, scope, environment) if scope is not None else None
            if ref is None or (ref.path, ref.scope) in entry_keys:
                continue
            for inner in self._handed_environments(site, ref, call._replace(environment=below)):
                self._follow(ref, inner, depth + 1)
        self._enter_called(call._replace(environment=below), depth)

    def _handed_environments(self, site: Site, ref: FunctionRef, call: Located) -> Iterator[Environment]:
        """The names in a function that is an argument: it is called for each item of a list, or once."""
        receiver = site.value.receiver
        rows = None
        if site.value.text in _EACH and receiver is not None:
            rows = self._evaluator.items(Located(call.path, receiver, call.environment))
        if rows is None:
            yield call.environment
            return
        parameters = self._evaluator.functions(ref.path).parameters(ref.scope)
        number = 1 if site.value.text == "reduce" else 0
        for row in rows[:_MOST_LOOPED]:
            values = dict(parameters[number].bind(row)) if number < len(parameters) else {}
            yield _in_round(call.environment, values, row)

    def _enter(self, entry: Entry, call: Located, depth: int) -> None:
        """Follows a function that a framework calls with an object."""
        ref = entry.function
        parameters = self._evaluator.functions(ref.path).parameters(ref.scope)
        things = dict(ref.environment.things)
        values = dict(ref.environment.values)
        if parameters and parameters[0].name:
            things[parameters[0].name] = entry.first
            values.pop(parameters[0].name, None)
        options = call.value.argument(1)
        if options is not None and len(parameters) > 1:
            values.update(parameters[1].bind(Located(call.path, options, call.environment)))
        environment = Environment(values, calls_below(call), things, call.environment.is_conditional)
        self._follow(ref, environment, depth + 1)

    def _enter_called(self, call: Located, depth: int) -> None:
        """Follows a function of these files that is called, or the constructor of a class."""
        value = call.value
        receiver = value.receiver
        is_chained = receiver is not None and receiver.kind is ValueKind.CALL
        hands = any(
            item.kind is ValueKind.NAME and self._is_served(call._replace(value=item))
            for item in value.arguments
        )
        if value.text not in self._names and not is_chained and not hands:
            return
        callee = self._evaluator.called(call)
        if callee.kind is ThingKind.DEFINITION and self._code.definition_kind(callee.target[0]) == "class":
            self._make(callee, call, depth)
            return
        ref = self._evaluator.function_of(self._evaluator.default_of(callee))
        if ref is not None and (hands or ref.path in self._paths):
            self._follow(ref, self._evaluator.entered(ref, call), depth + 1)

    def _make(self, callee: Thing, call: Located, depth: int) -> None:
        origin = Origin(call.path, call.value.start, call.environment.calls)
        instance = Thing(ThingKind.OBJECT, target=callee.target, origin=origin, made_by=call)
        for ref in self._constructors(callee.target[0], instance):
            environment = self._evaluator.entered(ref, call)
            things = {**environment.things, "this": instance}
            inside = Environment(environment.values, environment.calls, things, environment.is_conditional)
            self._follow(ref, inside, depth + 1)

    def _constructors(self, place: Place, instance: Thing) -> Iterator[FunctionRef]:
        """The constructors that run: of the class, and of those above it."""
        refs: dict[tuple[RepoPath, int], FunctionRef] = {}
        for one in ancestry(self._evaluator, place):
            if isinstance(one, Place):
                ref = self._evaluator.constructor_of(instance._replace(target=(one,)))
                if ref is not None and ref.path in self._paths:
                    refs.setdefault((ref.path, ref.scope), ref)
        yield from refs.values()


def _key_of(environment: Environment) -> tuple[object, ...]:
    """What tells environments apart."""
    values = sorted((name, *_identity(one)) for name, one in environment.values.items())
    things = sorted((name, str(one.target), str(one.origin)) for name, one in environment.things.items())
    return (tuple(values), tuple(things), environment.calls)


def _identity(located: Located) -> tuple[str, int, str]:
    """Where a value is written in the end, behind the names of parameters."""
    path, value, environment = located
    for _ in range(_DEEPEST):
        if value.kind is not ValueKind.NAME or value.text not in environment.values:
            break
        path, value, environment = environment.values[value.text]
    return path, value.start, value.text


def _in_round(environment: Environment, values: dict[str, Located], row: Located) -> Environment:
    """The names in one round of a loop, whose objects are others than those of the next."""
    things = {name: thing for name, thing in environment.things.items() if name not in values}
    calls = (*environment.calls, Origin(row.path, row.value.start))
    return Environment({**environment.values, **values}, calls, things, environment.is_conditional)


def _taken_apart(pattern: str, row: Located) -> Iterator[tuple[str, Located]]:
    """The names of a loop with the parts of an item."""
    path, value, environment = row
    names = [name.strip() for name in pattern.strip("{}[]() ").split(",") if name.strip()]
    if pattern.startswith("{"):
        for name in names:
            member, _, local = (part.strip() for part in name.partition(":"))
            piece = Value(ValueKind.MEMBER, member, value.start, (value,))
            yield local or member, Located(path, piece, environment)
    elif pattern.startswith("["):
        for name, item in zip(names, value.items if value.kind is ValueKind.LIST else (), strict=False):
            yield name, Located(path, item, environment)
    elif names:
        yield names[0], row


__all__ = ["UNRESOLVED", "Entry", "ScriptRun"]
