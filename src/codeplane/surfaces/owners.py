"""What methods are called on: the full names that an object goes by."""

from collections.abc import Iterator, Sequence
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.sites import SiteKind, Value, ValueKind
from codeplane.surfaces.calls import declared_owner, full_name, plain_name
from codeplane.surfaces.values import Evaluator, Located, Thing, ThingKind

_MOST_CALLERS: Final = 40
_DEEPEST: Final = 6


class Owners:
    """Names of objects, in one state of the code."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator, self._code = evaluator, evaluator.code
        self._handed: dict[tuple[Place, str], tuple[str, ...]] = {}

    def names(self, located: Located, packages: Sequence[str] = (), depth: int = 0) -> Iterator[str]:
        """The full names of an object or module; `X()` is an instance of X."""
        thing = self._evaluator.evaluate(located)
        yield from self._names_of(thing, located.path, packages)
        if thing.kind is not ThingKind.UNKNOWN or depth > _DEEPEST:
            return
        value = located.value
        if value.kind is ValueKind.CALL and value.text != "[]":
            name = full_name(self._evaluator, located)
            if name:
                yield f"{name}()"
            return
        owner = declared_owner(self._evaluator, located.path, value)
        if owner:
            yield owner
            yield from _with_packages(self._code.require_facts(located.path).imports, owner, packages)
            return
        yield from self._of_parameter(located, packages, depth)

    def chain(self, value: Value, *, is_fluent: bool) -> Iterator[Value]:
        """What a method is called on; of a chain of calls, what each of them is called on too."""
        receiver = value.receiver
        while receiver is not None:
            yield receiver
            receiver = receiver.receiver if is_fluent and receiver.kind is ValueKind.CALL else None

    def _names_of(self, thing: Thing, path: RepoPath, packages: Sequence[str]) -> Iterator[str]:
        if thing.kind is ThingKind.EXTERNAL:
            name = plain_name(thing.text)
            yield name
            yield from _with_packages(self._code.require_facts(path).imports, name, packages)
        elif thing.kind is ThingKind.OBJECT and thing.text:
            name = f"{plain_name(thing.text)}()"
            yield name
            yield from _with_packages(self._code.require_facts(path).imports, name, packages)
        elif thing.kind is ThingKind.MODULE:
            exports = self._evaluator.sites(thing.target[0].path).by_name.get("module.exports", ())
            for site in exports:
                yield from self.names(Located(thing.target[0].path, site.value), packages)
        elif thing.kind in (ThingKind.OBJECT, ThingKind.DEFINITION):
            place = thing.target[0]
            if place.definition >= 0 and self._code.definition_kind(place) == "class":
                mark = "()" if thing.kind is ThingKind.OBJECT else ""
                for base in self._evaluator.bases(place):
                    yield f"{plain_name(base)}{mark}"

    def _of_parameter(self, located: Located, packages: Sequence[str], depth: int) -> Iterator[str]:
        """What the calls of a function give the parameter that an object is; nothing where they differ."""
        place = self._evaluator.parameter_owner(located)
        value = located.value
        if place is None or "." in value.text:
            return
        key = (place, value.text)
        if key not in self._handed:
            self._handed[key] = ()  # a function that calls itself hands over nothing new
            self._handed[key] = self._handed_names(place, value.text, packages, depth)
        yield from self._handed[key]

    def _handed_names(
        self, place: Place, parameter: str, packages: Sequence[str], depth: int
    ) -> tuple[str, ...]:
        function = self._code.definition(place).name
        common: list[str] | None = None
        callers = 0
        for path in self._code.paths_with(function) if function else ():
            for site in self._evaluator.sites(path).sites:
                if site.kind is not SiteKind.CALL or site.value.text != function:
                    continue
                call = Located(path, site.value)
                if not self._is_call_of(call, place):
                    continue
                callers += 1
                value = self._evaluator.called_with(place, call).values.get(parameter)
                names = list(self.names(value, packages, depth + 1)) if value is not None else []
                common = names if common is None else [name for name in common if name in names]
                if not common or callers > _MOST_CALLERS:
                    return ()
        return tuple(common or ())

    def _is_call_of(self, call: Located, place: Place) -> bool:
        value = call.value
        receiver = value.receiver
        text = f"{receiver.text}.{value.text}" if receiver is not None else value.text
        start = receiver.start if receiver is not None else value.start
        thing = self._evaluator.evaluate(Located(call.path, Value(ValueKind.NAME, text, start)))
        if thing.kind is ThingKind.MODULE:  # a module that exports the function
            return thing.target[0].path == place.path
        return thing.kind is ThingKind.DEFINITION and thing.target[0] == place


def _with_packages(imports: Sequence[object], name: str, packages: Sequence[str]) -> Iterator[str]:
    """A name that nothing in the file says more of, with the packages that the file imports whole."""
    for item in imports if packages and not name.startswith(tuple(packages)) else ():
        if getattr(item, "name", "") == "*" and getattr(item, "module", "") in packages:
            yield f"{getattr(item, 'module', '')}.{name}"
