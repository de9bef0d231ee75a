"""Who calls a function, with what, and which calls a closure is an argument of."""

import re
from collections.abc import Iterator, Set
from functools import cached_property
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.facts import Reason
from codeplane.languages.sites import Site, SiteKind, Value, ValueKind
from codeplane.surfaces.flow.names import Names
from codeplane.surfaces.values import Environment, Evaluator, Located, Origin

_MOST_CALLERS: Final = 60
_NAME_LENGTH: Final = 120
_KEPT_IN: Final = re.compile(r"(\w+)\s*:?=\s*$")  # `add := func(r Router) {…}`
_SELVES: Final = frozenset({"self", "cls", "this"})


class Callers:
    """Calls in the files of one framework."""

    def __init__(self, evaluator: Evaluator, names: Names, paths: Set[RepoPath]) -> None:
        self._evaluator, self.names, self._paths = evaluator, names, paths
        self._code = evaluator.code
        self._calls_of: dict[Place, list[tuple[Located, bool]]] = {}
        self._uses_of: dict[Place, list[tuple[RepoPath, Site]]] = {}
        self._closures_in: dict[RepoPath, dict[int, Site]] = {}
        self._bodies_in: dict[RepoPath, dict[int, int]] = {}

    # Functions and their parameters

    def function_of(self, path: RepoPath, scope: int) -> Place | None:
        """The function whose body a scope is; None for a closure."""
        bodies = self._bodies_in.get(path)
        if bodies is None:
            definitions = self._code.require_facts(path).definitions
            bodies = {item.body: number for number, item in enumerate(definitions) if item.body >= 0}
            self._bodies_in[path] = bodies
        number = bodies.get(scope)
        return Place(path, number) if number is not None else None

    def parameters(self, function: Place) -> list[str]:
        """The names of the parameters of a function, without the instance that a method is called on."""
        facts = self._code.require_facts(function.path)
        item = facts.definitions[function.definition]
        names = [bind.name for bind in facts.binds if bind.scope == item.body and bind.reason is Reason.PARAM]
        if names and (names[0] in _SELVES or (item.owner and not self.extends(function))):
            return names[1:]
        return names

    def extends(self, function: Place) -> bool:
        """Whether a function is called on its first parameter: an extension method."""
        return "(this " in self._code.definition(function).item.signature

    def declared_type(self, function: Place, name: str) -> str:
        """What the header of a function says about a parameter."""
        signature = self._code.definition(function).item.signature
        at = signature.find(f"{name}:")
        if at < 0:
            return ""
        end = at + len(name)
        depth = 0
        while end < len(signature):
            char = signature[end]
            depth += (char in "<([") - (char in ">)]")
            if depth < 0 or (depth == 0 and char == ","):
                break
            end += 1
        return signature[at:end]

    # Calls

    def calls(self, function: Place) -> list[tuple[Located, bool]]:
        """The calls of a function, and whether each is only made on a condition."""
        calls = self._calls_of.get(function)
        if calls is None:
            calls = self._calls_of[function] = list(self._find_calls(function))
        return calls

    def _find_calls(self, function: Place) -> Iterator[tuple[Located, bool]]:
        name = self._code.definition(function).name
        sites = self._calls_by_name.get(name) or list(self._calls_elsewhere(function, name))
        for path, site in sites[: 10 * _MOST_CALLERS]:
            place = self.names.definition(path, site.value)
            if place == function or (place is None and self._is_extended(site.value, function)):
                yield Located(path, site.value), site.is_conditional

    def _calls_elsewhere(self, function: Place, name: str) -> Iterator[tuple[RepoPath, Site]]:
        """The calls of a name in files that say nothing of the framework: they only hand a router on."""
        language = self._code.require_facts(function.path).language
        paths = [path for path in self._code.paths_with(name) if path not in self._paths]
        for path in paths if len(paths) <= _MOST_CALLERS else ():
            facts = self._code.facts(path)
            if facts is None or facts.language != language or path in self._code.tests():
                continue
            for site in self._evaluator.sites(path).sites:
                if site.kind is SiteKind.CALL and site.value.text == name:
                    yield path, site

    def _is_extended(self, call: Value, function: Place) -> bool:
        """Whether a call on something from outside can only be that of one extension method."""
        return call.receiver is not None and self.extension(call.text) == function

    def extension(self, name: str) -> Place | None:
        """The one extension method of a name."""
        places = [place for place in self._code.definitions(name) if self._is_extension(place)]
        return places[0] if len(places) == 1 else None

    def _is_extension(self, place: Place) -> bool:
        return self._code.definition_kind(place) in ("method", "function") and self.extends(place)

    def arguments_for(self, function: Place, name: str) -> Iterator[tuple[Located, Value, bool]]:
        """The calls of a function with the value that each gives a parameter."""
        for call, is_conditional in self.calls(function)[:_MOST_CALLERS]:
            item = self._values(function, call).get(name)
            if item is not None:
                yield call, item, is_conditional

    def environment(self, function: Place, call: Located, around: Environment) -> Environment:
        """The parameters of a function as a call gives them."""
        values = {
            name: Located(call.path, item, around) for name, item in self._values(function, call).items()
        }
        origin = Origin(call.path, call.value.start, around.calls)
        return Environment(values, (*around.calls, origin)[-8:])

    def _values(self, function: Place, call: Located) -> dict[str, Value]:
        names = self.parameters(function)
        positional = [item for item in call.value.arguments if not item.keyword]
        receiver = call.value.receiver
        if self.extends(function) and receiver is not None and len(positional) < len(names):
            positional = [receiver, *positional]
        values = dict(zip(names, positional, strict=False))
        values.update({item.keyword: item for item in call.value.arguments if item.keyword in names})
        return values

    @cached_property
    def _calls_by_name(self) -> dict[str, list[tuple[RepoPath, Site]]]:
        table: dict[str, list[tuple[RepoPath, Site]]] = {}
        for path in sorted(self._paths):
            for site in self._evaluator.sites(path).sites:
                if site.kind is SiteKind.CALL and site.value.text:
                    table.setdefault(site.value.text, []).append((path, site))
        return table

    # Functions that are arguments

    def handed_over(self, function: Place) -> list[tuple[RepoPath, Site]]:
        """The calls that a function is an argument of."""
        uses = self._uses_of.get(function)
        if uses is None:
            name = self._code.definition(function).name
            uses = self._uses_of[function] = [
                (path, site)
                for path, site, item in self._named_arguments.get(name, ())
                if self.names.definition(path, item) == function
            ]
        return uses

    @cached_property
    def _named_arguments(self) -> dict[str, list[tuple[RepoPath, Site, Value]]]:
        table: dict[str, list[tuple[RepoPath, Site, Value]]] = {}
        for path in sorted(self._paths):
            for site in self._evaluator.sites(path).sites:
                if site.kind is not SiteKind.CALL:
                    continue
                for item in site.value.arguments:
                    if item.kind in (ValueKind.NAME, ValueKind.MEMBER):
                        name = item.text.rpartition(".")[2]
                        table.setdefault(name, []).append((path, site, item))
        return table

    # Closures

    def closures(self, path: RepoPath) -> dict[int, Site]:
        """The calls of a file with a closure among their arguments, by the byte that it begins with."""
        table = self._closures_in.get(path)
        if table is None:
            table = self._closures_in[path] = {
                item.start: site
                for site in self._evaluator.sites(path).sites
                if site.kind is SiteKind.CALL
                for item in site.value.arguments
                if item.kind is ValueKind.FUNCTION
            }
        return table

    def arguments_of_closure(self, path: RepoPath, scope: int, name: str) -> Iterator[tuple[Located, Value]]:
        """The calls of a closure that is kept in a variable, with the value that each gives a parameter."""
        start = self.scope_start(path, scope)
        before = self._code.source(path)[max(0, start - _NAME_LENGTH) : max(0, start)]
        kept_in = _KEPT_IN.search(before.decode("utf-8", "replace"))
        binds = self._code.require_facts(path).binds
        names = [bind.name for bind in binds if bind.scope == scope and bind.reason is Reason.PARAM]
        if kept_in is None or name not in names:
            return
        for site in self._evaluator.sites(path).sites:
            value = site.value
            if site.kind is not SiteKind.CALL or value.text != kept_in[1] or value.receiver is not None:
                continue
            item = value.argument(names.index(name))
            if item is not None:
                yield Located(path, value), item

    def scope_start(self, path: RepoPath, scope: int) -> int:
        """The byte that a scope begins with."""
        lines = self._code.all_occurrences(path).lines
        span = self._code.require_facts(path).scopes[scope].span
        return lines[span.start_line - 1] + span.start_column if 0 < span.start_line <= len(lines) else -1
