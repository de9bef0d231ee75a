"""Decorators by their full names, straight or put together by a function of the repository."""

from collections.abc import Iterator, Set
from functools import cached_property
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.sites import SiteKind, Value, ValueKind
from codeplane.surfaces.scripts import ScriptEvaluator
from codeplane.surfaces.values import Located, ThingKind

_COMPOSERS: Final = frozenset({"@nestjs/common.applyDecorators"})
_DEEPEST: Final = 4


class Marked(NamedTuple):
    """A decorator on a definition: its full name, its call, and where it stands."""

    name: str
    place: Place
    call: Located
    path: RepoPath
    line: int


class Markers:
    """The decorators in some files."""

    def __init__(self, evaluator: ScriptEvaluator, paths: Set[RepoPath]) -> None:
        self._evaluator, self._paths = evaluator, paths
        self._of_path: dict[RepoPath, dict[Place, list[Marked]]] = {}

    @cached_property
    def _by_name(self) -> dict[str, list[Marked]]:
        table: dict[str, list[Marked]] = {}
        for path in sorted(self._paths):
            for marks in self._in_file(path).values():
                for mark in marks:
                    table.setdefault(mark.name, []).append(mark)
        return table

    def of(self, name: str) -> list[Marked]:
        """The decorators of a full name."""
        return self._by_name.get(name, [])

    def on(self, place: Place) -> list[Marked]:
        """The decorators of a definition, outermost first."""
        return self._in_file(place.path).get(place, [])

    def _in_file(self, path: RepoPath) -> dict[Place, list[Marked]]:
        table = self._of_path.get(path)
        if table is None:
            table = self._of_path[path] = {}
            for site in self._evaluator.sites(path).sites if self._evaluator.speaks(path) else ():
                place = self._evaluator.decorated_by(path, site) if site.kind is SiteKind.DECORATOR else None
                if place is None:
                    continue
                line = self._evaluator.line_of(path, site.start)
                for name, call in self._named(Located(path, site.value)):
                    table.setdefault(place, []).append(Marked(name, place, call, path, line))
        return table

    def _named(self, call: Located, depth: int = 0) -> Iterator[tuple[str, Located]]:
        """The full names of a decorator: of one that a function composes, those of its parts."""
        path, value, environment = call
        owner = value.receiver
        text = f"{owner.text}.{value.text}" if owner is not None else value.text
        start = owner.start if owner is not None else value.start
        name = Located(path, Value(ValueKind.NAME, text, start), environment)
        thing = self._evaluator.evaluate(name)
        if thing.kind is ThingKind.EXTERNAL:
            if thing.text not in _COMPOSERS:
                yield thing.text, call
            for item in value.arguments if thing.text in _COMPOSERS and depth < _DEEPEST else ():
                yield from self._named(Located(path, item, environment), depth + 1) if item.text else ()
            return
        ref = self._evaluator.function_of(thing) if depth < _DEEPEST else None
        for result in self._evaluator.returned_by(ref, call) if ref is not None else ():
            if result.value.kind is ValueKind.CALL and result.value.text:
                yield from self._named(result, depth + 1)
