"""Tables that a call or another class binds to a class: GORM, EF, Sequelize, diesel, migrations of Django."""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.languages.sites import Site, SiteKind, Value, ValueKind
from codeplane.surfaces.calls import plain_name
from codeplane.surfaces.collectors.table_use import Table, TableSurface, plural_form, snake_case
from codeplane.surfaces.owners import Owners
from codeplane.surfaces.values import Evaluator, Located, ThingKind

_DIESEL: Final = re.compile(
    r"\btable!\s*\{\s*(?:(?:use\s[^;]*;|//[^\n]*|#\[(?!sql_name)[^\]]*\])\s*)*"
    r"(?:#\[sql_name\s*=\s*\"(?P<sql>\w+)\"\]\s*)?(?:(?P<schema>\w+)\.)?(?P<name>\w+)\s*(?:\([^)]*\))?\s*\{"
)
_DB_SET: Final = re.compile(r"\bDbSet<\s*([\w.]+)\s*>\s+(\w+)")
_GORM_MODELS: Final = ("gorm.io/gorm.Model", "github.com/jinzhu/gorm.Model")
_GORM: Final = frozenset(
    f"{module}.{name}()" for module in ("gorm.io/gorm", "github.com/jinzhu/gorm") for name in ("DB", "Open")
)
_EF: Final = frozenset({"DbContext", "Microsoft.EntityFrameworkCore.DbContext", "IdentityDbContext"})
_SEQUELIZE: Final = frozenset({"sequelize.Sequelize()", "sequelize()", "sequelize.default()"})
_CREATE_MODEL: Final = frozenset(
    {"django.db.migrations.CreateModel", "django.db.migrations.operations.CreateModel"}
)


class BoundTables:
    """Collects such tables, in one state of the code."""

    def __init__(self, evaluator: Evaluator, surface: TableSurface) -> None:
        self._evaluator, self._code, self._surface = evaluator, evaluator.code, surface
        self._owners = Owners(evaluator)

    def tables(self) -> Iterator[Table]:
        """The tables of all files that have a word of one of these libraries."""
        for word, language, read in (
            ("gorm", "go", self._gorm),
            ("DbSet", "csharp", self._db_sets),
            ("diesel", "rust", self._diesel),
            ("CreateModel", "python", self._created_models),
        ):
            for path in self._code.paths_with(word):
                facts = self._code.facts(path)
                if facts is not None and facts.language == language:
                    yield from read(path)
        for path in sorted(self._code.paths_with_any(["sequelize", "Sequelize"])):
            if has_language(self._code.facts(path), ("javascript", "typescript")):
                yield from self._sequelize(path)

    # GORM

    def _gorm(self, path: RepoPath) -> Iterator[Table]:
        facts = self._code.require_facts(path)
        source = self._code.source(path).splitlines()
        for number, item in enumerate(facts.definitions):
            if item.kind == "struct" and _has_gorm(source[item.span.start_line - 1 : item.span.end_line]):
                yield from self._struct_table(Place(path, number))
        for site in self._evaluator.sites(path).sites:
            if (
                site.kind is SiteKind.CALL
                and site.value.text == "AutoMigrate"
                and self._is_on(path, site, _GORM)
            ):
                for argument in site.value.arguments:
                    yield from self._migrated(path, argument)

    def _migrated(self, path: RepoPath, item: Value) -> Iterator[Table]:
        """`AutoMigrate(&User{})`."""
        receiver = item.receiver
        text = f"{receiver.text}.{item.text}" if receiver is not None else item.text
        start = receiver.start if receiver is not None else item.start
        thing = self._evaluator.evaluate(Located(path, Value(ValueKind.NAME, text, start)))
        if thing.kind is ThingKind.DEFINITION and self._code.definition_kind(thing.target[0]) == "struct":
            yield from self._struct_table(thing.target[0])

    def _struct_table(self, place: Place) -> Iterator[Table]:
        definition = self._code.definition(place)
        name: str | None = plural_form(snake_case(definition.name))
        target = self._code.member_of((place,), "TableName")
        if target and target[0].definition >= 0 and self._code.facts(target[0].path) is not None:
            name = self._returned_text(target[0])
        if name is None:
            self._surface.count_dynamic(place.path)
            return
        schema, dot, rest = name.rpartition(".")
        yield Table(rest, schema if dot else None, place.path, definition.name_line, "gorm", "model", place)

    def _returned_text(self, place: Place) -> str | None:
        call = Located(place.path, Value(ValueKind.CALL))
        texts = {self._evaluator.text(value) for value in self._evaluator.returned_values(place, call)}
        return texts.pop() if len(texts) == 1 else None

    # EF

    def _db_sets(self, path: RepoPath) -> Iterator[Table]:
        """`DbSet<User> Users` of a class derived from DbContext: the table is called like the property."""
        facts = self._code.require_facts(path)
        for item in facts.definitions:
            match = _DB_SET.search(item.signature) if item.kind in ("property", "field") else None
            if match is None or item.parent < 0 or match[2] != item.name:
                continue
            bases = {plain_name(base) for base in self._evaluator.bases(Place(path, item.parent))}
            if bases & _EF and match[1].rpartition(".")[2] not in self._renamed:
                classes = [
                    place
                    for place in self._code.definitions(match[1].rpartition(".")[2])
                    if self._code.definition_kind(place) in ("class", "struct")
                ]
                entity = classes[0] if len(classes) == 1 else None
                yield Table(item.name, None, path, item.name_line, "ef", "DbSet", entity)

    @cached_property
    def _renamed(self) -> set[str]:
        """Entities whose table is called otherwise: by `Entity<T>().ToTable(…)` or an attribute."""
        names: set[str] = set()
        for path in self._code.paths_with_any(["ToTable", "Table"]):
            if not has_language(self._code.facts(path), ("csharp",)):
                continue
            for site in self._evaluator.sites(path).sites:
                value = site.value
                if value.text == "ToTable":
                    links = list(self._owners.chain(value, is_fluent=True))
                    kinds = (link.keyword_argument("<0>") for link in links if link.kind is ValueKind.CALL)
                    names |= {kind.text.rpartition(".")[2] for kind in kinds if kind is not None}
                elif site.kind is SiteKind.DECORATOR and value.text == "Table":
                    place = self._evaluator.decorated_by(path, site)
                    names |= {self._code.definition(place).name} if place is not None else set()
        return names

    # diesel

    def _diesel(self, path: RepoPath) -> Iterator[Table]:
        text = self._code.source(path).decode("utf-8", "replace")
        for match in _DIESEL.finditer(text):
            line = text.count("\n", 0, match.start("name")) + 1
            yield Table(match["sql"] or match["name"], match["schema"], path, line, "diesel", "table!")

    # Sequelize

    def _sequelize(self, path: RepoPath) -> Iterator[Table]:
        for site in self._evaluator.sites(path).sites:
            value = site.value
            if site.kind is not SiteKind.CALL or value.receiver is None:
                continue
            if value.text == "define" and self._is_on(path, site, _SEQUELIZE):
                first = value.argument(0)
                model = self._evaluator.text(Located(path, first)) if first is not None else None
                yield from self._sequelize_table(path, site, value.argument(2), model, None)
            elif value.text == "init":
                thing = self._evaluator.evaluate(Located(path, value.receiver))
                if thing.kind is ThingKind.DEFINITION and self._is_model(thing.target[0]):
                    name = self._code.definition(thing.target[0]).name
                    yield from self._sequelize_table(path, site, value.argument(1), name, thing.target[0])

    def _is_model(self, place: Place) -> bool:
        return "sequelize.Model" in set(self._evaluator.bases(place))

    def _sequelize_table(
        self, path: RepoPath, site: Site, options: Value | None, model: str | None, entity: Place | None
    ) -> Iterator[Table]:
        items = {item.keyword: item for item in options.items} if options is not None else {}
        literal = items.get("tableName")
        model_name = items.get("modelName")
        if model_name is not None:
            model = self._evaluator.text(Located(path, model_name))
        is_frozen = "freezeTableName" in items and items["freezeTableName"].text == "true"
        name = self._evaluator.text(Located(path, literal)) if literal is not None else None
        if literal is None and model is not None:
            name = model if is_frozen else plural_form(model)
        if name is None:
            self._surface.count_dynamic(path)
            return
        schema = self._evaluator.text(Located(path, items["schema"])) if "schema" in items else None
        line = self._evaluator.line_of(path, site.start)
        yield Table(name, schema, path, line, "sequelize", "model", entity)

    # Migrations of Django

    def _created_models(self, path: RepoPath) -> Iterator[Table]:
        """`migrations.CreateModel(name="Order")` in the migrations of an application."""
        folder = path.rpartition("/")[0]
        label = (
            folder.removesuffix("/migrations").rpartition("/")[2] if folder.endswith("/migrations") else ""
        )
        for site in self._evaluator.sites(path).sites:
            if site.kind is not SiteKind.CALL or site.value.text != "CreateModel":
                continue
            if self._evaluator.full_name(path, site.value) not in _CREATE_MODEL:
                continue
            first = site.value.keyword_argument("name") or site.value.argument(0)
            options = site.value.keyword_argument("options")
            items = {item.keyword.strip("\"'"): item for item in options.items} if options is not None else {}
            literal = items.get("db_table")
            model = self._evaluator.text(Located(path, first)) if first is not None else None
            name = self._evaluator.text(Located(path, literal)) if literal is not None else None
            if literal is None and model is not None and label:
                name = f"{label}_{model.lower()}"
            is_proxy = "proxy" in items and items["proxy"].text == "True"
            if name is not None and not is_proxy:
                yield Table(
                    name, None, path, self._evaluator.line_of(path, site.start), "django", "migration"
                )

    def _is_on(self, path: RepoPath, site: Site, names: frozenset[str]) -> bool:
        receiver = site.value.receiver
        return receiver is not None and bool(names & set(self._owners.names(Located(path, receiver))))


def has_language(facts: object, languages: tuple[str, ...]) -> bool:
    """Whether a file is in one of some languages."""
    return getattr(facts, "language", "") in languages


def _has_gorm(lines: list[bytes]) -> bool:
    """Whether a struct embeds the model of GORM or has tags for it."""
    models = tuple(name.rpartition("/")[2].encode() for name in _GORM_MODELS)
    return any(b'gorm:"' in line or line.strip() in models for line in lines)
