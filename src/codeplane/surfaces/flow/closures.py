"""The closures that code stands in: what each is handed to, or the variable that keeps it."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.languages.facts import Reason, ScopeKind
from codeplane.languages.sites import Site, SiteKind, Value, ValueKind
from codeplane.surfaces.flow.callers import Callers
from codeplane.surfaces.values import Evaluator

_NAME_LENGTH: Final = 120
_KEPT_IN: Final = re.compile(r"(?<![\w.])(\w+)\s*:?=\s*$")  # `add := func() {…}`
_CALLED: Final = re.compile(rb"\s*\(")  # `func() {…}()`
_FUNCTIONS: Final = frozenset({ScopeKind.FUNCTION, ScopeKind.ARROW})


class Closure(NamedTuple):
    """A function without a name."""

    start: int
    end: int
    has_parameters: bool
    site: Site | None  # the call that it is an argument of
    name: str  # of the variable that keeps it


class Closures:
    """The closures of files that are not called where they are written."""

    def __init__(self, evaluator: Evaluator, callers: Callers) -> None:
        self._evaluator, self._code, self._callers = evaluator, evaluator.code, callers
        self._closures_in: dict[RepoPath, list[Closure]] = {}

    def bound_at(self, path: RepoPath, value: Value) -> int:
        """Where the scope begins that binds the first part of a name; -1 for that of the file."""
        binds = self._callers.names.binds(path, value.text.partition(".")[0], value.start)
        return self._callers.scope_start(path, binds[0].scope) if binds and binds[0].scope > 0 else -1

    def around(self, path: RepoPath, start: int, bound: int) -> list[Closure]:
        """The closures that a byte stands in and that begin behind another, outermost first."""
        return [one for one in self._closures(path) if bound < one.start <= start < one.end]

    def uses(self, path: RepoPath, closure: Closure) -> Iterator[tuple[Site, bool]]:
        """The calls of a closure that a variable keeps, and those that it is handed to, which are True."""
        names = self._callers.names
        kept = self._code.source(path)[: closure.start].rstrip(b"=: \t\r\n")
        binds = names.binds(path, closure.name, len(kept) - len(closure.name.encode()))
        if not binds:
            return
        for site in self._evaluator.sites(path).sites:
            if site.kind is not SiteKind.CALL:
                continue
            value = site.value
            used = [(item.start, item.text, True) for item in value.arguments if item.kind is ValueKind.NAME]
            if value.receiver is None:
                used.append((value.start, value.text, False))
            for start, text, is_handed in used:
                if text == closure.name and names.binds(path, text, start) == binds:
                    yield site, is_handed

    def _closures(self, path: RepoPath) -> list[Closure]:
        closures = self._closures_in.get(path)
        if closures is None:
            closures = self._closures_in[path] = sorted(self._find(path), key=lambda one: one.start)
        return closures

    def _find(self, path: RepoPath) -> Iterator[Closure]:
        facts, source = self._code.require_facts(path), self._code.source(path)
        with_parameters = {bind.scope for bind in facts.binds if bind.reason is Reason.PARAM}
        handed = self._callers.closures(path)
        for number, scope in enumerate(facts.scopes):
            if scope.kind not in _FUNCTIONS or self._callers.function_of(path, number) is not None:
                continue
            start, end = self._evaluator.byte_span(path, scope.span)
            site = handed.get(start)
            if site is None and _CALLED.match(source, end):
                continue
            before = source[max(0, start - _NAME_LENGTH) : start].decode("utf-8", "replace")
            kept = _KEPT_IN.search(before) if site is None else None
            yield Closure(start, end, number in with_parameters, site, kept[1] if kept else "")
