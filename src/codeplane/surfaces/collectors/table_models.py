"""Tables of classes that are derived from a model class."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.sites import Site, SiteKind, ValueKind
from codeplane.surfaces.collectors.table_use import Table, TableSurface, plural_form, snake_case
from codeplane.surfaces.kind_rules import ModelRule, TableRule
from codeplane.surfaces.values import Evaluator, Located, ThingKind

_DEEPEST: Final = 12
_LOWER_NAME: Final = re.compile(r"return\s+cls\.__name__\.lower\(\)\s*$", re.MULTILINE)
_SNAKE_NAME: Final = re.compile(r"return\s+[\w.]*snake[\w.]*\(.*cls\.__name__\)", re.MULTILINE)
_SNAKE_SUB: Final = re.compile(
    r"return\s+\w*snake\w*\.sub\(r?[\"']_[\"'],\s*cls\.__name__\)\.lower\(\)", re.IGNORECASE
)


class _Model(NamedTuple):
    place: Place
    chain: tuple[Place, ...]  # itself and its base classes in the repository, nearest first
    rule: ModelRule


class ModelTables:
    """Finds the tables of model classes, in one state of the code."""

    def __init__(self, evaluator: Evaluator, surface: TableSurface) -> None:
        self._evaluator, self._surface = evaluator, surface
        self._code = evaluator.code
        self._done: set[Place] = set()

    def tables(self, rule: TableRule, path: RepoPath) -> Iterator[Table]:
        """The tables of the model classes of a file and of the classes derived from them."""
        for number, item in enumerate(self._code.require_facts(path).definitions):
            if item.kind in ("class", "struct"):
                yield from self._class_tables(rule, Place(path, number))

    def _class_tables(self, rule: TableRule, place: Place) -> Iterator[Table]:
        if place in self._done:
            return
        model = self._model_of(rule, place)
        if model is None:
            return
        self._done.add(place)
        yield from self._own_tables(rule, model)
        for child in self._code.extending(self._code.definition(place).name):
            yield from self._class_tables(rule, child)

    def _model_of(self, rule: TableRule, place: Place) -> _Model | None:
        chain: list[Place] = []
        names = set(self._base_names(place, chain))
        model = next((one for one in rule.models if names & set(one.bases)), None)
        return _Model(place, tuple(dict.fromkeys(chain)), model) if model is not None else None

    def _base_names(self, place: Place, chain: list[Place], depth: int = 0) -> Iterator[str]:
        chain.append(place)
        site = self._class_site(place)
        if site is None or depth > _DEEPEST:
            return
        for base in site.value.items:
            if base.keyword:
                continue
            thing = self._evaluator.evaluate(Located(place.path, base))
            if thing.kind is ThingKind.EXTERNAL:
                yield thing.text.replace("::", ".").replace("\\", ".")
            elif thing.kind is ThingKind.OBJECT and thing.text:
                yield f"{thing.text}()"
            elif thing.kind is ThingKind.DEFINITION and thing.target[0] not in chain:
                yield base.text
                yield from self._base_names(thing.target[0], chain, depth + 1)

    def _own_tables(self, rule: TableRule, model: _Model) -> Iterator[Table]:
        place = model.place
        definition = self._code.definition(place)
        if definition.name in model.rule.bases or self._is_abstract(model):
            return
        name = self._table_name(model)
        if name is None:
            self._surface.count_dynamic(place.path)
        if not name:
            return
        schema, dot, rest = name.rpartition(".")
        table = Table(
            rest,
            schema if dot else self._schema(place),
            place.path,
            definition.name_line,
            rule.framework,
            "model",
            place,
        )
        yield table
        if model.rule.default == "django":
            yield from self._many_to_many(model, table)

    # Names

    def _table_name(self, model: _Model) -> str | None:
        """The name of a table; nothing where the class has none of its own, None where it isn't known."""
        for attribute in model.rule.name:
            value = self._attribute(model.place, attribute)
            if value is not None:
                return self._evaluator.text(value)
        convention = self._declared_convention(model)
        if len(model.chain) == 1 and convention != "":
            return ""  # the class that declares the convention is the base of the tables
        if convention != "":
            return convention
        return self._default_name(model)

    def _declared_convention(self, model: _Model) -> str | None:
        """The name that a `declared_attr` of a base class makes of the class's own name."""
        for owner in model.chain:
            facts = self._code.require_facts(owner.path)
            for item in facts.definitions:
                if item.parent != owner.definition or item.name != "__tablename__" or item.body < 0:
                    continue
                first, last = self._evaluator.byte_span(owner.path, item.span)
                body = self._code.source(owner.path)[first:last].decode("utf-8", "replace")
                name = self._code.definition(model.place).name
                if _LOWER_NAME.search(body):
                    return name.lower()
                return snake_case(name) if _SNAKE_NAME.search(body) or _SNAKE_SUB.search(body) else None
        return ""

    def _default_name(self, model: _Model) -> str | None:
        name = self._code.definition(model.place).name
        if model.rule.key_field and model.rule.key_field not in self._body(model.place):
            return ""
        match model.rule.default:
            case "class":
                return name
            case "lower":
                return name.lower()
            case "snake":
                return snake_case(name)
            case "plural":
                return plural_form(snake_case(name))
            case "django":
                label = self._app_label(model.place)
                return f"{label}_{name.lower()}" if label else None
        return ""

    def _app_label(self, place: Place) -> str:
        """The label of the Django application of a model: by its Meta, its AppConfig or its folder."""
        literal = self._attribute(place, "Meta.app_label")
        if literal is not None:
            return self._evaluator.text(literal) or ""
        parts = place.path.split("/")[:-1]
        while parts and not self._is_application(parts):
            parts.pop()
        if not parts:
            return ""
        apps = RepoPath("/".join([*parts, "apps.py"]))
        if self._code.exists(apps) and self._code.facts(apps) is not None:
            for site in self._evaluator.sites(apps).by_name.get("label", ()):
                return self._evaluator.text(Located(apps, site.value)) or ""
        return parts[-1]

    def _is_application(self, parts: list[str]) -> bool:
        folder = "/".join(parts)
        return self._code.exists(f"{folder}/models.py") or self._code.exists(f"{folder}/models/__init__.py")

    def _is_abstract(self, model: _Model) -> bool:
        place = model.place
        if model.rule.keyword:
            site = self._class_site(place)
            items = site.value.items if site is not None else ()
            return not any(item.keyword == model.rule.keyword and item.text == "True" for item in items)
        for attribute in ("__abstract__", "Meta.abstract", "Meta.proxy", "self.abstract_class"):
            value = self._attribute(place, attribute)
            if value is not None and value.value.text.lower() == "true":
                return True
        return False

    def _schema(self, place: Place) -> str | None:
        arguments = self._attribute(place, "__table_args__")
        if arguments is None:
            return None
        value = arguments.value
        if value.kind is ValueKind.LIST and value.items:
            value = value.items[-1]
        item = next((item for item in value.items if item.keyword == "schema"), None)
        return self._evaluator.text(Located(place.path, item)) if item is not None else None

    def _many_to_many(self, model: _Model, table: Table) -> Iterator[Table]:
        """The tables that Django makes for many-to-many fields without a model between them."""
        owners = [
            owner
            for owner in model.chain
            if owner == model.place or self._is_abstract(model._replace(place=owner))
        ]
        for owner in owners:
            for site in self._sites_of(owner):
                if site.kind is not SiteKind.CALL or site.value.text != "ManyToManyField" or not site.name:
                    continue
                if site.value.keyword_argument("through") is not None:
                    continue
                literal = site.value.keyword_argument("db_table")
                name = f"{table.name}_{site.name}" if literal is None else literal.text
                line = self._evaluator.line_of(owner.path, site.start)
                yield Table(
                    name, table.schema, owner.path, line, table.framework, "many to many", model.place
                )

    # Parts of classes

    def _attribute(self, place: Place, name: str) -> Located | None:
        """The value of an attribute of a class; `Meta.x` is one of its class Meta."""
        inner, dot, attribute = name.partition(".")
        owner: Place | None = place
        if dot and inner == "Meta":
            owner = self._inner_class(place, inner)
        else:
            attribute = name
        for site in self._sites_of(owner) if owner is not None else ():
            if site.name == attribute and site.kind in (SiteKind.ASSIGN, SiteKind.CALL):
                return Located(place.path, site.value)
        return None

    def _inner_class(self, place: Place, name: str) -> Place | None:
        facts = self._code.require_facts(place.path)
        return next(
            (
                Place(place.path, number)
                for number, item in enumerate(facts.definitions)
                if item.parent == place.definition and item.name == name and item.kind == "class"
            ),
            None,
        )

    def _sites_of(self, place: Place) -> Iterator[Site]:
        """The sites that stand in a class itself."""
        first, last = self._evaluator.byte_span(place.path, self._code.definition(place).span)
        for site in self._evaluator.sites(place.path).within(first, last):
            if self._evaluator.definition_around(place.path, site.start) == place:
                yield site

    def _class_site(self, place: Place) -> Site | None:
        name = self._code.definition(place).name
        sites = self._sites_of(place)
        return next((site for site in sites if site.kind is SiteKind.CLASS and site.name == name), None)

    def _body(self, place: Place) -> str:
        first, last = self._evaluator.byte_span(place.path, self._code.definition(place).span)
        return self._code.source(place.path)[first:last].decode("utf-8", "replace")
