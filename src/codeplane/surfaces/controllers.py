"""Classes whose methods are routes, by decorators or attributes."""

from collections.abc import Iterator

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.languages.sites import Site, SiteKind, ValueKind
from codeplane.surfaces.arguments import Arguments
from codeplane.surfaces.routes import Endpoint, joined_parts
from codeplane.surfaces.rule import ControllerRule, Rule
from codeplane.surfaces.values import Evaluator, Located


class Controllers:
    """The endpoints of the controllers of one framework."""

    def __init__(self, evaluator: Evaluator, rule: Rule, dynamic: dict[RepoPath, int]) -> None:
        self._evaluator, self._arguments = evaluator, Arguments(evaluator)
        self._code, self._framework, self._rules = evaluator.code, rule.framework, rule.controllers
        self.dynamic = dynamic

    def endpoints(self, paths: set[RepoPath]) -> Iterator[Endpoint]:
        for rule in self._rules:
            wanted = {*rule.marker, *rule.prefix_markers, *rule.methods}
            tails = {name.rpartition(".")[2] for name in wanted}
            for path in sorted(paths):
                marks: dict[Place, list[tuple[str, Site]]] = {}
                for site in self._evaluator.sites(path).sites:
                    if site.kind is SiteKind.DECORATOR and site.value.text in tails:
                        name = self._evaluator.full_name(path, site.value)
                        place = self._evaluator.decorated_by(path, site)
                        if name in wanted and place is not None:
                            marks.setdefault(place, []).append((name, site))
                yield from self._methods_of(path, rule, marks)

    def _methods_of(
        self, path: RepoPath, rule: ControllerRule, marks: dict[Place, list[tuple[str, Site]]]
    ) -> Iterator[Endpoint]:
        facts = self._code.require_facts(path)
        for place, some in marks.items():
            parent = facts.definitions[place.definition].parent
            around = marks.get(Place(path, parent), []) if parent >= 0 else []
            if not any(name in rule.marker for name, _ in around):
                continue
            bearer = rule.prefix_markers or rule.marker
            prefix_site = next((site for name, site in around if name in bearer), None)
            prefixes = (
                self._arguments.texts(Located(path, prefix_site.value), rule.prefix)
                if prefix_site is not None
                else [""]
            )
            for name, site in some:
                if name not in rule.methods:
                    continue
                texts = self._arguments.texts(Located(path, site.value), rule.path)
                if prefixes is None or texts is None:
                    self.dynamic[path] = self.dynamic.get(path, 0) + 1
                    continue
                line = self._evaluator.line_of(path, site.start)
                methods = self._served_methods(path, rule, name, site)
                for prefix in prefixes:
                    for text in texts:
                        for method in methods:
                            yield Endpoint(
                                method,
                                joined_parts(prefix, text),
                                path,
                                line,
                                self._framework,
                                Tier.STRONG,
                                place,
                                facts.definitions[place.definition].name_line,
                            )

    def _served_methods(self, path: RepoPath, rule: ControllerRule, name: str, site: Site) -> list[str]:
        value = self._arguments.value(Located(path, site.value), rule.method) if rule.method else None
        if value is None:
            return [rule.methods[name]]
        values = value.value.items if value.value.kind is ValueKind.LIST else (value.value,)
        return [item.text.rpartition(".")[2].upper() for item in values]
