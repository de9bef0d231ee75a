"""Classes of the repository that hold a router and have its methods: they are used like one."""

import re
from collections.abc import Set

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.surfaces.flow.names import Names
from codeplane.surfaces.flow.rule import FlowRule
from codeplane.surfaces.values import Evaluator

_FEWEST: int = 3  # methods that it has in common with the router


class Wrappers:
    """The classes around the routers of one framework."""

    def __init__(self, evaluator: Evaluator, rule: FlowRule, names: Names) -> None:
        self._code, self._rule, self._names = evaluator.code, rule, names
        self._declared = {name: kind for kind, one in rule.types.items() for name in one.declared}
        self._methods = {name for route in rule.routes for name in route.call}
        self._methods |= {name for link in rule.links for name in link.call}
        self._methods |= {name for mount in rule.mounts for name in mount.call}
        self._kinds: dict[Place, str | None] = {}

    def made(self, place: Place) -> str | None:
        """The kind of router that a class stands for."""
        if not self._rule.wrapped or self._code.definition_kind(place) not in ("struct", "class"):
            return None
        if place not in self._kinds:
            self._kinds[place] = None
            self._kinds[place] = self._find(place)
        return self._kinds[place]

    def declared(self, path: RepoPath, text: str) -> str | None:
        """The kind of router that a declared type of the repository stands for."""
        if not self._rule.wrapped:
            return None
        target = self._code.written(path, 0, text.strip("*&"))
        if len(target) != 1 or target[0].definition < 0:
            return None
        return self.made(target[0])

    def names(self, paths: Set[RepoPath]) -> set[str]:
        """The names of all such classes in some files."""
        if not self._rule.wrapped:
            return set()
        return {
            item.name
            for path in paths
            for number, item in enumerate(self._code.require_facts(path).definitions)
            if item.kind in ("struct", "class") and self.made(Place(path, number)) is not None
        }

    def prefixing(self, paths: Set[RepoPath]) -> set[str]:
        """The names of the methods of all such classes in some files that may put a function below a path."""
        return {
            self._code.definition(method).name
            for name in self.names(paths)
            for method in self._code.owned(name)
            if self.may_prefix(method)
        }

    def is_around(self, place: Place | None) -> bool:
        """Whether a function is a method of such a class."""
        if place is None or not self._rule.wrapped:
            return False
        owner = self._owner(place)
        return owner is not None and self.made(owner) is not None

    def takes_path(self, method: Place | None) -> bool:
        """Whether a method of such a class has a text as its first parameter; true of any other function."""
        if method is None or not self.is_around(method):
            return True
        return re.match(r"[\w\s,]*\bstring\b", self._parameters(method)) is not None

    def may_prefix(self, method: Place | None) -> bool:
        """Whether a method of such a class that no rule names gets a path and a function."""
        if method is None or not self.is_around(method):
            return False
        return (
            self._code.definition(method).name not in self._methods
            and self.takes_path(method)
            and "func(" in self._parameters(method)
        )

    def _parameters(self, method: Place) -> str:
        definition = self._code.definition(method)
        return definition.item.signature.rpartition(f"{definition.name}(")[2]

    def _owner(self, place: Place) -> Place | None:
        definition = self._code.definition(place)
        if definition.parent is not None:
            return definition.parent.place
        target = self._code.owner(place.path, definition.facts, place.definition)
        return target[0] if len(target) == 1 and target[0].definition >= 0 else None

    def _find(self, place: Place) -> str | None:
        facts = self._code.require_facts(place.path)
        name = facts.definitions[place.definition].name
        methods = {self._code.definition(one).name for one in self._code.owned(name)}
        methods |= {item.name for item in facts.definitions if item.parent == place.definition}
        if len(methods & self._methods) < _FEWEST:
            return None
        for item in facts.definitions:
            if item.parent == place.definition and item.kind in ("field", "property"):
                kind = self._declared.get(self._names.type_name(place.path, item.annotation))
                kind = kind or self.declared(place.path, item.annotation)
                if kind is not None:
                    return kind
        return None
