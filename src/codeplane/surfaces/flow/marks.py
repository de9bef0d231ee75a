"""Functions that an attribute makes routes once they are handed to a router."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from codeplane.core.places import Place
from codeplane.languages.sites import Site, SiteKind, Value, ValueKind
from codeplane.surfaces.arguments import Arguments
from codeplane.surfaces.flow.names import Names
from codeplane.surfaces.flow.rule import FlowRule, MarkRule
from codeplane.surfaces.flow.verbs import verb_of, verbs_of_value
from codeplane.surfaces.values import Evaluator, Located

_FARTHEST: Final = 4_000  # bytes between an attribute and the name of what it belongs to


class MarkedRoute(NamedTuple):
    """What an attribute of a function says."""

    methods: tuple[str, ...] | None
    text: str | None
    place: Place
    start: int


class Marks:
    """The attributes of one framework."""

    def __init__(self, evaluator: Evaluator, rule: FlowRule, names: Names) -> None:
        self._evaluator, self._rule, self._names = evaluator, rule, names
        self._arguments = Arguments(evaluator)

    def routes_of(self, located: Located, depth: int = 0) -> Iterator[MarkedRoute]:
        """The routes of a function, or of the functions in a list or a macro."""
        path, value, environment = located
        if depth > 3:
            return
        if value.kind is ValueKind.LIST or (value.kind is ValueKind.CALL and self._is_macro(value)):
            items = value.items if value.kind is ValueKind.LIST else value.arguments
            for item in items:
                yield from self.routes_of(Located(path, item, environment), depth + 1)
        elif value.kind in (ValueKind.NAME, ValueKind.MEMBER):
            place = self._names.definition(path, value)
            if place is not None:
                yield from self._of_function(place)

    def _is_macro(self, value: Value) -> bool:
        return any(value.text in mark.macro for mark in self._rule.marks)

    def _of_function(self, place: Place) -> Iterator[MarkedRoute]:
        first, last = self._evaluator.byte_span(place.path, self._evaluator.code.definition(place).span)
        for site in self._evaluator.sites(place.path).within(max(0, first - _FARTHEST), last):
            if site.kind is not SiteKind.DECORATOR or self._evaluator.decorated_by(place.path, site) != place:
                continue
            name = self._names.full_name(Located(place.path, site.value))
            for mark in self._rule.marks:
                if name in mark.mark:
                    yield self._route(place, site, mark, mark.mark[name])

    def _route(self, place: Place, site: Site, mark: MarkRule, verb: str) -> MarkedRoute:
        value = site.value._replace(items=tuple(_with_keywords(site.value.items)))
        call = Located(place.path, value)
        texts = self._arguments.texts(call, mark.path)
        text = texts[0] if texts is not None and len(texts) == 1 else None
        methods: tuple[str, ...] | None
        if verb.startswith("kw."):
            arguments = [item for item in value.arguments if item.keyword == verb[3:]]
            items = Value(ValueKind.LIST, items=tuple(arguments))
            methods = verbs_of_value(self._evaluator, Located(place.path, items))
        elif verb == "names":
            methods = (
                tuple(verb_of(item.text) for item in site.value.arguments if verb_of(item.text))[:1] or None
            )
        else:
            methods = (verb,)
        return MarkedRoute(methods, text, place, site.start)


def _with_keywords(items: tuple[Value, ...]) -> Iterator[Value]:
    """Tokens as arguments: `method = "GET"` is a keyword argument in an attribute of Rust."""
    pending: Value | None = None
    for item in items:
        if pending is not None and item.kind is ValueKind.TEXT and pending.kind is ValueKind.NAME:
            yield item._replace(keyword=pending.text)
            pending = None
            continue
        if pending is not None:
            yield pending
        pending = item
    if pending is not None:
        yield pending
