"""What names stand for at the sites of a function: one environment for each call that leads there."""

from collections.abc import Iterator, Set
from functools import cached_property
from itertools import islice
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.sites import Site, SiteKind, Value, ValueKind
from codeplane.names.meaning import AMBIGUOUS, UNRESOLVED, is_external
from codeplane.surfaces.calls import loop_environments
from codeplane.surfaces.kinds import Kinds
from codeplane.surfaces.values import Environment, Evaluator, Located, Thing, ThingKind

_SELF: Final = "self"
_SUPER: Final = "super"
_CONSTRUCTOR: Final = "__init__"
_MOST_DERIVED: Final = 20  # classes of which one constructor makes objects
_DEEPEST: Final = 8  # functions that lead into each other
_MOST_CALLS: Final = 400  # that lead into one function


class CallEnvironments:
    """Finds the calls that hand over what a site is about, in the files of one framework.

    A class of the repository that is derived from a framework's may have methods of its own that add routes
    or mounts. Their bodies are read once for each call of such a method, with the object as `self`.
    """

    def __init__(self, evaluator: Evaluator, kinds: Kinds, paths: Set[RepoPath], words: Set[str]) -> None:
        self._evaluator, self._code, self._kinds = evaluator, evaluator.code, kinds
        self._paths, self._words = paths, words
        self._environments_of: dict[Place, list[Environment]] = {}
        self._depth = 0
        self._adders: dict[Place, bool] = {}

    def at(self, path: RepoPath, site: Site, *about: Value | None) -> Iterator[Environment]:
        """The values that names have at a site: one for each round of the loop that it is in, or for each
        call that hands over the object that the site is about."""
        for value in about:
            environments = self._handed(path, value) if value is not None else []
            if environments:
                yield from environments
                return
        yield from loop_environments(self._evaluator, path, site)

    def of_arguments(self, path: RepoPath, call: Value) -> list[Environment]:
        """The values that the parameters in a call's arguments have, where one function has them all."""
        parts = [part for item in call.arguments for part in item.walk()]
        names = [item for item in parts if item.kind is ValueKind.NAME and item.start >= 0]
        owners = {self._evaluator.parameter_owner(Located(path, item)) for item in names} - {None}
        places = [place for place in owners if place is not None]
        return self.of_function(places[0]) if len(places) == 1 else []

    def is_replaced(self, owner: Place, name: str) -> bool:
        """Whether a class has a method of this name that does itself what the framework's would do."""
        target = self._code.member_of((owner,), name)
        if target in (UNRESOLVED, AMBIGUOUS) or is_external(target) or target[0].definition < 0:
            return False
        place = target[0]
        if self._code.definition_kind(place) not in ("method", "function"):
            return False
        adds = self._adders.get(place)
        if adds is None:
            adds = self._adders[place] = any(self._is_own(site) for site in self._sites_in(place))
        return adds

    def _is_own(self, site: Site) -> bool:
        owner = site.value.receiver
        return owner is not None and owner.text in (_SELF, _SUPER) and site.value.text in self._words

    def _sites_in(self, place: Place) -> list[Site]:
        first, last = self._evaluator.byte_span(place.path, self._code.definition(place).span)
        return [one for one in self._evaluator.sites(place.path).within(first, last) if one.start > first]

    def _handed(self, path: RepoPath, receiver: Value) -> list[Environment]:
        place = self._evaluator.parameter_owner(Located(path, receiver))
        if place is None:
            return self._made(path, receiver)
        if receiver.text == _SELF:
            instance = self._evaluator.evaluate(Located(path, receiver))
            is_own = self._kinds.type_of(instance) is not None
            return [one for one in self.of_function(place) if self._is_own_object(one)] if is_own else []
        name = receiver.text.split(".")[0]
        return [one for one in self.of_function(place) if name in one.values]

    def _made(self, path: RepoPath, receiver: Value) -> list[Environment]:
        """The ways to an object of a class here that a function makes of its parameters."""
        thing = self._evaluator.evaluate(Located(path, receiver))
        made_by = thing.made_by
        is_own = made_by is not None and thing.target != UNRESOLVED and made_by.path == path
        if made_by is None or not is_own or self._kinds.type_of(thing) is None:
            return []
        return self.of_arguments(path, made_by.value)

    def _is_own_object(self, environment: Environment) -> bool:
        owner = environment.things.get(_SELF)
        return owner is not None and self._kinds.type_of(owner) is not None

    def of_function(self, place: Place) -> list[Environment]:
        """The parameters of a function as each of its calls gives them."""
        environments = self._environments_of.get(place)
        if environments is None:
            if self._depth >= _DEEPEST:
                return []
            self._environments_of[place] = []  # a function that calls itself hands over nothing new
            self._depth += 1
            try:
                environments = self._environments_of[place] = list(islice(self._find(place), _MOST_CALLS))
            finally:
                self._depth -= 1
        return environments

    def _find(self, place: Place) -> Iterator[Environment]:
        name = self._code.definition(place).name
        if name == _CONSTRUCTOR:
            yield from self._constructions(place)
            return
        is_method = self._is_method(place)
        for path, site in self._calls_by_name.get(name, ()):
            owner = site.value.receiver
            if not is_method and (site.kind is SiteKind.DECORATOR or not site.value.arguments):
                continue
            text = f"{owner.text}.{name}" if owner is not None else name
            callee = Located(path, Value(ValueKind.NAME, text, owner.start if owner else site.value.start))
            plain = self._evaluator.evaluate(callee)
            is_open = plain.kind is ThingKind.UNKNOWN and self._evaluator.parameter_owner(callee) is not None
            if not is_open and not _is_definition(plain, place):
                continue
            about = owner if is_method else None
            for environment in self._leading(path, site, about):
                if is_open and not _is_definition(
                    self._evaluator.evaluate(callee._replace(environment=environment)), place
                ):
                    continue
                call = Located(path, site.value, environment)
                inner = self._evaluator.called_with(place, call)
                yield Environment(
                    inner.values,
                    environment.calls,
                    inner.things,
                    site.is_conditional or environment.is_conditional,
                    environment.stands_at or ((path, site) if is_method else None),
                )

    def _constructions(self, place: Place) -> Iterator[Environment]:
        """The parameters of a constructor as each call of its class or a derived one gives them."""
        owner = self._evaluator.parent_of(place)
        names = [self._code.definition(owner).name] if owner is not None else []
        for name in names:
            if len(names) < _MOST_DERIVED:
                names += [self._code.definition(one).name for one in self._code.extending(name)]
        for name in dict.fromkeys(names):
            for path, site in self._calls_by_name.get(name, ()):
                made = self._evaluator.evaluate(Located(path, site.value))
                if made.made_by is None or made.target == UNRESOLVED:
                    continue
                environment = self._evaluator.construction(made, place)
                if environment is not None:
                    yield environment

    def _leading(self, path: RepoPath, site: Site, owner: Value | None) -> Iterator[Environment]:
        """The values that names have at a call that leads somewhere."""
        first = site.value.argument(0)
        if not any(self._handed(path, one) for one in (owner, first) if one is not None):
            environments = self.of_arguments(path, site.value)
            if environments:
                yield from environments
                return
        yield from self.at(path, site, owner, first)

    def _is_method(self, place: Place) -> bool:
        facts = self._code.require_facts(place.path)
        return facts.parameters.get(facts.definitions[place.definition].body, ())[:1] == (_SELF,)

    @cached_property
    def _calls_by_name(self) -> dict[str, list[tuple[RepoPath, Site]]]:
        """The calls and decorators in the files of the framework."""
        calls: dict[str, list[tuple[RepoPath, Site]]] = {}
        tests = self._code.tests()
        for path in sorted(self._paths, key=lambda path: (path in tests, path)):
            sites = self._evaluator.sites(path).sites
            for site in sites:
                is_inner = site.outer >= 0 and sites[site.outer].kind is SiteKind.DECORATOR
                is_call = site.kind is SiteKind.CALL and not is_inner
                if (is_call or site.kind is SiteKind.DECORATOR) and site.value.kind is ValueKind.CALL:
                    calls.setdefault(site.value.text, []).append((path, site))
        return calls


def _is_definition(thing: Thing, place: Place) -> bool:
    return thing.kind is ThingKind.DEFINITION and thing.target[0] == place
