"""What handles a route: functions, the methods of classes, and what decorators say that they serve."""

from typing import Final, NamedTuple

from codeplane.core.places import Place
from codeplane.languages.facts import Reason
from codeplane.languages.sites import SiteKind, Value, ValueKind
from codeplane.names.meaning import AMBIGUOUS, UNRESOLVED, is_external
from codeplane.surfaces.arguments import Arguments
from codeplane.surfaces.kinds import ancestry, class_attribute
from codeplane.surfaces.rule import Rule
from codeplane.surfaces.values import Evaluator, Located, Thing, ThingKind

VERBS: Final = ("get", "post", "put", "patch", "delete", "head", "options")
_DEEPEST: Final = 6
_ERROR_PARAMETERS: Final = 4


class Handler(NamedTuple):
    """A definition that handles a route, and the methods that it says it serves; none where it doesn't."""

    methods: tuple[str, ...]
    place: Place | None
    line: int


class Handlers:
    """The handlers of one framework."""

    def __init__(self, evaluator: Evaluator, rule: Rule) -> None:
        self._evaluator, self._rule = evaluator, rule
        self._code, self._arguments = evaluator.code, Arguments(evaluator)
        self._by_place: dict[Place, list[Handler]] = {}

    def resolve(self, located: Located, depth: int = 0) -> list[Handler]:
        """What a value handles requests with: one handler, or one for each method of a class."""
        handlers = self._resolve(located, depth)
        if handlers:
            return handlers
        start = located.value.start
        line = self._evaluator.line_of(located.path, start) if start >= 0 else 0
        return [Handler((), None, line)]

    def handles_errors(self, located: Located) -> bool:
        """Whether a function takes an error first: `(error, request, response, next)`."""
        thing = self._evaluator.evaluate(located)
        if thing.kind is not ThingKind.DEFINITION:
            return False
        place = thing.target[0]
        body = self._code.require_facts(place.path).definitions[place.definition].body
        binds = self._code.require_facts(place.path).binds
        names = [bind.name for bind in binds if bind.scope == body >= 0 and bind.reason is Reason.PARAM]
        return len(names) == _ERROR_PARAMETERS

    def _resolve(self, located: Located, depth: int) -> list[Handler]:
        value = located.value
        if depth > _DEEPEST:
            return []
        if value.kind is ValueKind.CALL and value.text != "bind":
            return self._of_call(located, depth)
        thing = self._evaluator.evaluate(located)
        if thing.kind is ThingKind.DEFINITION or (thing.kind is ThingKind.FUNCTION and thing.target):
            return self.of_definition(thing.target[0])
        if thing.kind is ThingKind.LITERAL and thing.made_by is not None and thing.made_by.value.items:
            path, sequence, environment = thing.made_by
            if sequence.kind is ValueKind.LIST:
                return self._resolve(Located(path, sequence.items[-1], environment), depth + 1)
        place = self._evaluator.named_definition(located)
        if place is not None:
            return [Handler((), place, self._code.definition(place).name_line)]
        if value.kind in (ValueKind.NAME, ValueKind.MEMBER):
            for source, _ in self._evaluator.sources_of(located) if value.kind is ValueKind.NAME else ():
                handlers = self._resolve(source, depth + 1)
                if handlers:
                    return handlers
        return []

    def _of_call(self, located: Located, depth: int) -> list[Handler]:
        """`View.as_view()`, or a function around a handler: `login_required(view)`."""
        path, value, environment = located
        if value.text == "as_view" and value.receiver is not None:
            owner = self._evaluator.evaluate(Located(path, value.receiver, environment))
            first = value.argument(0)
            if owner.kind is ThingKind.EXTERNAL:
                line = self._evaluator.line_of(path, value.start)
                return [Handler(self._rule.verbs.get(owner.text, ()), None, line)]
            if owner.kind is not ThingKind.DEFINITION:
                return []
            if first is not None and first.kind is ValueKind.MAPPING:
                return self._of_actions(owner, first)
            return self.of_definition(owner.target[0])
        for item in value.arguments:
            if item.kind in (ValueKind.NAME, ValueKind.MEMBER, ValueKind.CALL):
                handlers = self._resolve(Located(path, item, environment), depth + 1)
                if handlers:
                    return handlers
        return []

    def _of_actions(self, owner: Thing, mapping: Value) -> list[Handler]:
        handlers = []
        for item in mapping.items:
            if item.kind is ValueKind.TEXT:
                place = self.method_of(owner.target[0], item.text) or owner.target[0]
                line = self._code.definition(place).name_line
                handlers.append(Handler((item.keyword.strip("\"'").upper(),), place, line))
        return handlers

    def of_definition(self, place: Place) -> list[Handler]:
        """How a function or a class of the repository handles requests."""
        handlers = self._by_place.get(place)
        if handlers is None:
            is_class = self._code.definition_kind(place) == "class"
            handlers = self._of_class(place) if is_class else self._of_function(place)
            self._by_place[place] = handlers
        return handlers

    def method_of(self, place: Place, name: str) -> Place | None:
        """The method that a class of the repository defines or inherits from another one here."""
        target = self._code.member_of((place,), name)
        if target in (UNRESOLVED, AMBIGUOUS) or is_external(target) or target[0].definition < 0:
            return None
        return target[0] if self._code.definition_kind(target[0]) in ("method", "function") else None

    def _of_class(self, place: Place) -> list[Handler]:
        line = self._code.definition(place).name_line
        methods: dict[str, Place] = {}
        for verb in VERBS:
            method = self.method_of(place, verb)
            if method is not None:
                methods[verb.upper()] = method
        for base in ancestry(self._evaluator, place):
            for verb in self._rule.verbs.get(base, ()) if isinstance(base, str) else ():
                methods.setdefault(verb, place)
        served = self.served_names(place)
        rows = [
            Handler((verb,), method, self._code.definition(method).name_line)
            for verb, method in methods.items()
            if served is None or verb in served
        ]
        return rows or [Handler((), place, line)]

    def served_names(self, place: Place) -> set[str] | None:
        """The verbs that a class restricts itself to, if it does."""
        value = class_attribute(self._evaluator, place, "http_method_names")
        items = self._evaluator.items(value) if value is not None else None
        texts = [self._evaluator.text(item) for item in items or ()]
        return {text.upper() for text in texts if text} or None

    def _of_function(self, place: Place) -> list[Handler]:
        definition = self._code.definition(place)
        methods: tuple[str, ...] = ()
        if self._rule.function_verbs:
            first, last = self._evaluator.byte_span(place.path, definition.span)
            for site in self._evaluator.sites(place.path).within(first, last):
                if site.kind is not SiteKind.DECORATOR or site.start > first + 4_000:
                    continue
                where = self._rule.function_verbs.get(self._evaluator.full_name(place.path, site.value))
                if where is not None and self._evaluator.decorated_by(place.path, site) == place:
                    texts = self._arguments.texts(Located(place.path, site.value), where) or []
                    methods = tuple(text.upper() for text in texts if text)
        return [Handler(methods, place, definition.name_line)]
