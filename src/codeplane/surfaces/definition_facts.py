"""What frameworks mean at one definition: the endpoints it handles, keys, tables, exceptions, messages."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.core.slots import EpochSlot
from codeplane.languages.facts import Role
from codeplane.languages.sites import has_sites
from codeplane.names import Codebase
from codeplane.surfaces.collectors.config_readers import file_reads
from codeplane.surfaces.collectors.config_use import ConfigSurface, ConfigUse
from codeplane.surfaces.collectors.settings_classes import settings_fields
from codeplane.surfaces.collectors.table_use import Table, TableUse
from codeplane.surfaces.config_keys import config_surface
from codeplane.surfaces.db_tables import entity_tables, table_uses_of_file, tables_of_file
from codeplane.surfaces.endpoints import Endpoint, endpoints_of, framework_files, gated_languages
from codeplane.surfaces.exceptions import raised_facts
from codeplane.surfaces.fact_lists import all_rules, optional_frameworks
from codeplane.surfaces.fact_reader import FactReader
from codeplane.surfaces.facts import Fact
from codeplane.surfaces.rule_set import rules_of
from codeplane.surfaces.values import Evaluator

AnnotationKind = Literal["endpoint", "config", "table", "di", "middleware", "exception", "log", "retry"]

_RULED: Final = ("di", "middleware", "log", "retry")
_FILES: Final[EpochSlot[RepoPath, list[Fact]]] = EpochSlot("facts of a file")
_HANDLERS: Final[EpochSlot[None, dict[Place, list[Endpoint]]]] = EpochSlot("endpoints by handler")
_KEYS: Final[EpochSlot[None, dict[RepoPath, list[tuple[Place | None, "Annotation"]]]]] = EpochSlot(
    "configuration keys by file"
)
_ENTITIES: Final[EpochSlot[None, dict[Place, str]]] = EpochSlot("tables by entity")
_FIELDS: Final[EpochSlot[None, dict[Place, str]]] = EpochSlot("configuration keys by field")
_FILE_KEYS: Final[EpochSlot[RepoPath, list[tuple[Place | None, "Annotation"]]]] = EpochSlot(
    "configuration keys of a file"
)
_FILE_ENTITIES: Final[EpochSlot[RepoPath, dict[Place, str]]] = EpochSlot("tables of a file")
_QUERIES: Final[EpochSlot[RepoPath, list[TableUse]]] = EpochSlot("SQL of a file")
_CLASSES: Final = ("class", "struct", "object")
_FIELD_KINDS: Final = ("field", "variable", "property", "constant")
_FUNCTIONS: Final = ("function", "method", "constructor")
_USES: Final = (Role.READ, Role.CALL, Role.TYPE)


class Annotation(NamedTuple):
    """One fact at a definition."""

    kind: AnnotationKind
    value: str
    line: int
    detail: str = ""
    tier: Tier = Tier.STRONG
    target: Place | None = None  # what the value is in the repository


class DefinitionFacts:
    """The facts of definitions in one state of the code."""

    def __init__(self, code: Codebase, *, is_local: bool = False) -> None:
        """With `is_local`, a question about one definition reads no more files than it has to: keys that a
        function reads through one of its own repository are left out."""
        self._code, self._evaluator, self._is_local = code, Evaluator(code), is_local
        self._readers: list[FactReader] | None = None
        self._optional = optional_frameworks(code)
        self._wanted_names: dict[tuple[RepoPath, int], set[str]] = {}

    def at(self, place: Place) -> list[Annotation]:
        """What frameworks mean at a definition, by kind and line."""
        if place.definition < 0:
            return []
        return [
            *self.endpoints(place),
            *(one for symbol, one in self._keys(place.path) if symbol == place),
            *self._settings(place),
            *self._tables(place),
            *(_use(use) for use in self._queries(place.path) if use.symbol == place),
            *self._facts(place),
        ]

    def within(self, path: RepoPath, first: int, last: int) -> list[Annotation]:
        """The same for a piece of code without a name, by its bytes."""
        lines = self._evaluator.line_of(path, first), self._evaluator.line_of(path, last)
        annotations = [one for _, one in self._keys(path) if lines[0] <= one.line <= lines[1]]
        annotations += [
            _annotation(fact)
            for fact in self.facts_of_file(path)
            if lines[0] <= fact.line <= lines[1] and fact.kind in ("exception", "log", "retry")
        ]
        queries = (_use(use) for use in self._queries(path) if lines[0] <= use.line <= lines[1])
        return [*annotations, *self._tables_between(path, first, last), *queries]

    def _queries(self, path: RepoPath) -> list[TableUse]:
        """The tables that SQL in a file names."""
        return self._code.once(_QUERIES, path, lambda: table_uses_of_file(self._code, path))

    # Kinds

    def endpoints(self, place: Place) -> list[Annotation]:
        """The endpoints that a definition handles."""
        if self._is_local and not self._may_handle(place):
            return []
        return [
            Annotation("endpoint", f"{one.method} {one.route}", one.line, tier=one.tier)
            for one in self.endpoints_by_handler().get(place, ())
        ]

    def _may_handle(self, place: Place) -> bool:
        """Whether a file that uses a framework has the name of a definition or of its class."""
        facts = self._code.require_facts(place.path)
        item = facts.definitions[place.definition]
        if facts.language not in gated_languages(self._code):
            return has_sites(facts.language) and item.kind in (*_FUNCTIONS, *_CLASSES)
        users = framework_files(self._code)
        if not users or place.path in users:
            return bool(users)
        names = [item.name, *([facts.definitions[item.parent].name] if item.parent >= 0 else [])]
        return any(path in users for name in names for path in self._code.paths_with(name))

    def endpoints_by_handler(self) -> dict[Place, list[Endpoint]]:
        """All endpoints with a handler in the repository, by that."""
        return self._code.once(_HANDLERS, None, self._find_handlers)

    def _find_handlers(self) -> dict[Place, list[Endpoint]]:
        table: dict[Place, list[Endpoint]] = {}
        for one in endpoints_of(self._code).endpoints:
            if one.handler is not None:
                table.setdefault(one.handler, []).append(one)
        return table

    def _keys(self, path: RepoPath) -> list[tuple[Place | None, Annotation]]:
        """The keys that the code of a file reads, each with the definition around."""
        if self._is_local:
            return self._code.once(_FILE_KEYS, path, lambda: self._keys_of_file(path))
        return self._code.once(_KEYS, None, self._find_keys).get(path, [])

    def _keys_of_file(self, path: RepoPath) -> list[tuple[Place | None, Annotation]]:
        words = sorted({word for rule in rules_of(self._code).config for word in rule.words})
        if path not in self._code.paths_with_any(words):
            return []
        return [(use.symbol, _key(use)) for use in file_reads(self._evaluator, path) if not use.is_definition]

    def _find_keys(self) -> dict[RepoPath, list[tuple[Place | None, Annotation]]]:
        table: dict[RepoPath, list[tuple[Place | None, Annotation]]] = {}
        for use in config_surface(self._code).uses:
            if not use.is_definition:
                table.setdefault(use.path, []).append((use.symbol, _key(use)))
        return table

    def _entities(self, path: RepoPath, span: tuple[int, int]) -> Mapping[Place, str]:
        """The tables by their entities: all, or those of classes that some code may name."""
        if not self._is_local:
            return self._code.once(_ENTITIES, None, lambda: _by_entity(entity_tables(self._code)))
        words = sorted({word for rule in rules_of(self._code).tables for word in rule.words})
        models = self._code.paths_with_any(words)
        entities: dict[Place, str] = {}
        for file in sorted(self._classes_named(path, span) & models) if models else ():
            entities |= self._entities_of_file(file)
        return entities

    def _entities_of_file(self, path: RepoPath) -> dict[Place, str]:
        return self._code.once(_FILE_ENTITIES, path, lambda: _by_entity(tables_of_file(self._code, path)))

    def _classes_named(self, path: RepoPath, span: tuple[int, int]) -> set[RepoPath]:
        """The files of classes whose names stand in some code or among its fields."""
        occurrences = self._code.all_occurrences(path)
        spans = [span, *(one for _, one in self._fields_between(path, *span))]
        names: set[str] = set()
        for first, last in spans:
            start, end = bisect_left(occurrences.starts, first), bisect_left(occurrences.starts, last)
            names |= {occurrences.texts[occurrences.names[at]] for at in range(start, end)}
        originals = {item.alias: item.name for item in self._code.imports(path) if item.alias and item.name}
        return {
            place.path
            for name in {originals.get(name, name) for name in names}
            for place in self._code.definitions(name)
            if self._code.definition_kind(place) in _CLASSES
        }

    def _tables(self, place: Place) -> Iterator[Annotation]:
        """The table that a class is the entity of, or those whose entities the code of a function names."""
        definition = self._code.definition(place)
        span = self._evaluator.byte_span(place.path, definition.span)
        if definition.kind in _CLASSES:
            own = self._entities(place.path, span).get(place)
            if own is not None:
                yield Annotation("table", own, definition.item.name_line, target=place)
        elif definition.kind in _FUNCTIONS:
            yield from self._tables_between(place.path, *span)

    def _tables_between(self, path: RepoPath, first: int, last: int) -> Iterator[Annotation]:
        """The tables whose entities some code names, or has behind a field: `Repository<User>`."""
        entities = self._entities(path, (first, last))
        lines: dict[Place, int] = {}
        for line, entity in self._named_between(path, (first, last), entities):
            lines.setdefault(entity, line)
        for line, span in self._fields_between(path, first, last) if entities else ():
            for _, entity in self._named_between(path, span, entities):
                lines.setdefault(entity, line)
        for entity, line in lines.items():
            yield Annotation("table", entities[entity], line, target=entity)

    def _named_between(
        self, path: RepoPath, span: tuple[int, int], wanted: Mapping[Place, object]
    ) -> Iterator[tuple[int, Place]]:
        """The definitions among some that code between two bytes names for sure, with the lines."""
        if not wanted:
            return
        names = self._names_in(path, wanted)
        occurrences = self._code.all_occurrences(path)
        start = bisect_left(occurrences.starts, span[0])
        for at in range(start, bisect_left(occurrences.starts, span[1])):
            name = occurrences.texts[occurrences.names[at]]
            if name not in names or occurrences.roles[at] not in _USES:
                continue
            item = occurrences.at(at)
            meaning = self._code.meaning(path, name, item)
            if meaning.target and meaning.target[0] in wanted and meaning.tier in (Tier.PROVEN, Tier.STRONG):
                yield item.line, meaning.target[0]

    def _names_in(self, path: RepoPath, wanted: Mapping[Place, object]) -> set[str]:
        """The names that some definitions have in a file."""
        key = (path, id(wanted))
        names = self._wanted_names.get(key)
        if names is None:
            own = {self._code.definition(place).name for place in wanted}
            aliases = {item.alias for item in self._code.imports(path) if item.name in own and item.alias}
            names = self._wanted_names[key] = own | aliases
        return names

    def _fields_between(self, path: RepoPath, first: int, last: int) -> Iterator[tuple[int, tuple[int, int]]]:
        """The fields of its own object that some code uses: the line, and where each is declared."""
        occurrences, facts = self._code.all_occurrences(path), self._code.require_facts(path)
        places: set[int] = set()
        start = bisect_left(occurrences.starts, first)
        for at in range(start, bisect_left(occurrences.starts, last)):
            item = occurrences.at(at) if occurrences.receivers[at] else None
            if item is None or facts.receivers[item.receiver - 1] not in ("self", "this") or not item.target:
                continue
            number = item.target - 1
            if number in places or facts.definitions[number].kind not in _FIELD_KINDS:
                continue
            places.add(number)
            yield item.line, self._evaluator.byte_span(path, facts.definitions[number].span)

    def _settings(self, place: Place) -> Iterator[Annotation]:
        """The keys behind the fields of settings that some code uses: `settings.SECRET_KEY`."""
        fields = self._settings_fields()
        if not fields or self._code.definition_kind(place) not in _FUNCTIONS:
            return
        span = self._evaluator.byte_span(place.path, self._code.definition(place).span)
        lines: dict[Place, int] = {}
        for line, one in self._named_between(place.path, span, fields):
            lines.setdefault(one, line)
        for one, line in lines.items():
            yield Annotation("config", fields[one], line, target=one)

    def _settings_fields(self) -> dict[Place, str]:
        """The keys of fields of settings classes, by field."""
        return self._code.once(_FIELDS, None, self._find_fields)

    def _find_fields(self) -> dict[Place, str]:
        lines: dict[RepoPath, dict[int, str]] = {}
        for use in settings_fields(self._evaluator, ConfigSurface()):
            lines.setdefault(use.path, {})[use.line] = use.key
        return {
            Place(path, number): keys[item.name_line]
            for path, keys in lines.items()
            for number, item in enumerate(self._code.require_facts(path).definitions)
            if item.parent >= 0 and item.kind in _FIELD_KINDS and item.name_line in keys
        }

    def _facts(self, place: Place) -> Iterator[Annotation]:
        for fact in self.facts_of_file(place.path):
            if fact.symbol == place:
                yield _annotation(fact)

    def facts_of_file(self, path: RepoPath) -> list[Fact]:
        """The registrations, middleware, exceptions, messages and retries of one file."""
        return self._code.once(_FILES, path, lambda: self._read_file(path))

    def _read_file(self, path: RepoPath) -> list[Fact]:
        if self._code.facts(path) is None:
            return []
        if self._readers is None:
            rules = [rule for rule in all_rules(self._code) if rule.framework not in self._optional]
            self._readers = [FactReader(self._evaluator, rules, kind) for kind in _RULED]
        facts = list(raised_facts(self._evaluator, path))
        for reader in self._readers:
            facts += reader.facts(path)
        return sorted(dict.fromkeys(facts), key=lambda fact: (fact.line, fact.kind, fact.name))


def _key(use: ConfigUse) -> Annotation:
    detail = f"default {use.default}" if use.default is not None else ""
    return Annotation("config", use.key, use.line, detail)


def _use(use: TableUse) -> Annotation:
    name = f"{use.schema}.{use.name}" if use.schema else use.name
    return Annotation("table", name, use.line, use.statement.lower())


def _by_entity(tables: Iterable[Table]) -> dict[Place, str]:
    return {
        table.entity: f"{table.schema}.{table.name}" if table.schema else table.name
        for table in tables
        if table.entity is not None
    }


def _annotation(fact: Fact) -> Annotation:
    value = f"{fact.name} -> {fact.target}" if fact.target and fact.kind == "di" else fact.name
    return Annotation(fact.kind, value, fact.line, fact.detail, fact.tier, fact.definition)
