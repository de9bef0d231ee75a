"""Tables that the code defines: by models, markers, calls, migrations and schema files."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, NamedTuple, cast

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.slots import EpochSlot, InterfaceSlot
from codeplane.languages.sites import Site, SiteKind, ValueKind, has_sites
from codeplane.names import Codebase
from codeplane.surfaces.calls import argument, called_thing, full_name, loop_environments
from codeplane.surfaces.collectors.bound_tables import BoundTables
from codeplane.surfaces.collectors.table_models import ModelTables
from codeplane.surfaces.collectors.table_use import Table, TableSurface, TableUse, snake_case
from codeplane.surfaces.kind_rules import MarkerRule, TableCallRule, TableRule
from codeplane.surfaces.recorder import Recorder, Remembered, remembered_of_file
from codeplane.surfaces.rule_set import rules_of
from codeplane.surfaces.sql.collect import SqlTables
from codeplane.surfaces.values import Evaluator, Located, ThingKind

_TABLES: Final[EpochSlot[str, TableSurface]] = EpochSlot("tables")
_BY_RULES: Final[EpochSlot[str, list[Table]]] = EpochSlot("tables by rules")
_PRISMA_MODEL: Final = re.compile(r"^model\s+(\w+)\s*\{(.*?)^\}", re.MULTILINE | re.DOTALL)
_PRISMA_MAP: Final = re.compile(r"@@map\(\s*(?:name:\s*)?\"([^\"]+)\"")
_PRISMA_SCHEMA: Final = re.compile(r"@@schema\(\s*\"([^\"]+)\"")


def table_surface(code: Codebase) -> TableSurface:
    """Every table that a state of the code defines."""
    return code.once(_TABLES, rules_of(code).digest, lambda: _collect(code))


class UsedTable(NamedTuple):
    """A table as one place defines it, and the SQL that names it."""

    table: Table
    uses: tuple[TableUse, ...] = ()
    witnesses: tuple[Table, ...] = ()  # other places that define it: migrations, schema files


def tables_with_uses(surface: TableSurface, counts: Callable[[RepoPath], bool]) -> list[UsedTable]:
    """The tables of files that count, with the SQL that names them; those that only SQL names come too."""
    uses: dict[str, list[TableUse]] = {}
    for use in surface.uses:
        if counts(use.path):
            uses.setdefault(use.name.lower(), []).append(use)
    groups: dict[tuple[str, str], list[Table]] = {}
    for table in surface.tables:
        if counts(table.path):
            groups.setdefault((table.name.lower(), (table.schema or "").lower()), []).append(table)
    rows: list[UsedTable] = []
    own_names: set[str] = set()
    for (name, schema), some in groups.items():
        first, *others = sorted(
            some, key=lambda table: table.entity is None
        )  # the class before its migration
        fitting = [
            use for use in uses.get(name, ()) if (use.schema or "").lower() in ("", schema) or not schema
        ]
        rows.append(UsedTable(first, tuple(fitting) if name not in own_names else (), tuple(others)))
        own_names.add(name)
    for name, queries in uses.items():
        if name not in own_names:
            use = queries[0]
            table = Table(use.name, use.schema, use.path, use.line, "sql", "query")
            rows.append(UsedTable(table, tuple(queries)))
    return sorted(rows, key=lambda row: (row.table.name, row.table.path, row.table.line))


def tables_of_file(code: Codebase, path: RepoPath) -> list[Table]:
    """The tables that one file defines."""
    facts = code.facts(path)
    if facts is None:
        return []
    evaluator, surface = Evaluator(code), TableSurface()
    models = ModelTables(evaluator, surface)
    tables: list[Table] = []
    for rule in rules_of(code).tables:
        if facts.language in rule.languages and path in code.paths_with_any(list(rule.words)):
            tables += _tables_by_rule(evaluator, surface, models, rule, path)
    return list(dict.fromkeys(tables))


def table_uses_of_file(code: Codebase, path: RepoPath) -> list[TableUse]:
    """The tables that the SQL in the texts of one file names."""
    facts = code.facts(path)
    if facts is None or not has_sites(facts.language):
        return []
    surface = TableSurface()
    list(SqlTables(Evaluator(code), surface).read_file(path))
    return list(dict.fromkeys(surface.uses))


def _tables_by_rule(
    evaluator: Evaluator, surface: TableSurface, models: ModelTables, rule: TableRule, path: RepoPath
) -> Iterator[Table]:
    yield from models.tables(rule, path) if rule.models else ()
    yield from _called_tables(evaluator, surface, rule, path)
    yield from _marked_tables(evaluator, surface, rule, path)


def entity_tables(code: Codebase) -> list[Table]:
    """The tables that classes and calls define, without those that only SQL names."""
    return code.once(_BY_RULES, rules_of(code).digest, lambda: _collect_by_rules(code, TableSurface()))


class _FileTables(NamedTuple):
    """The tables that one file leads to, and where names of such can't be worked out."""

    tables: tuple[Table, ...]
    dynamic: dict[RepoPath, int]


_OF_FILES: Final[InterfaceSlot[tuple[RepoPath, int, str], Remembered[_FileTables]]] = InterfaceSlot(
    "tables of a file by a rule"
)


def _collect_by_rules(code: Codebase, surface: TableSurface) -> list[Table]:
    recorder = Recorder(code)
    evaluator = Evaluator(cast("Codebase", recorder))
    rules = rules_of(code)
    tables: list[Table] = []
    for number, rule in enumerate(rules.tables):
        for path in sorted(code.paths_with_any(list(rule.words))):
            facts = code.facts(path)
            if facts is None or facts.language not in rule.languages:
                continue
            key = (path, number, rules.digest)
            find = partial(_tables_apart, evaluator, rule, path)
            read = remembered_of_file(recorder, _OF_FILES, key, find)
            tables += read.tables
            # A class is met from the file of each of its bases too: it counts once.
            for place, count in read.dynamic.items():
                surface.dynamic[place] = max(count, surface.dynamic.get(place, 0))
    tables += BoundTables(Evaluator(code), surface).tables()
    return tables


def _tables_apart(evaluator: Evaluator, rule: TableRule, path: RepoPath) -> _FileTables:
    surface = TableSurface()
    tables = tuple(_tables_by_rule(evaluator, surface, ModelTables(evaluator, surface), rule, path))
    return _FileTables(tables, surface.dynamic)


def _collect(code: Codebase) -> TableSurface:
    surface = TableSurface()
    tables = [*_prisma_tables(code), *_collect_by_rules(code, surface)]
    tables += SqlTables(Evaluator(code), surface).read()
    surface.uses = sorted(dict.fromkeys(surface.uses), key=lambda use: (use.name, use.path, use.line))
    surface.tables = sorted(
        dict.fromkeys(tables), key=lambda table: (table.name, table.path, table.line, table.pattern)
    )
    return surface


def _called_tables(
    evaluator: Evaluator, surface: TableSurface, rule: TableRule, path: RepoPath
) -> Iterator[Table]:
    by_name = {name: call_rule for call_rule in rule.calls for name in call_rule.call}
    last_names = {name.rpartition(".")[2] for name in by_name}
    for site in evaluator.sites(path).sites:
        is_call = site.kind in (SiteKind.CALL, SiteKind.DECORATOR)
        if not is_call or site.value.kind is not ValueKind.CALL or site.value.text not in last_names:
            continue
        call = Located(path, site.value)
        call_rule = by_name.get(_marker_name(evaluator, rule, call) or _wrapped_name(evaluator, call))
        if call_rule is not None:
            yield from _called_table(evaluator, surface, rule, call_rule, path, site)


def _wrapped_name(evaluator: Evaluator, call: Located) -> str:
    """The full name of what a function of the repository hands all of its arguments to: `Table(*args)`."""
    thing = called_thing(evaluator, call)
    place = thing.target[0] if thing.kind is ThingKind.DEFINITION else None
    if place is None or evaluator.code.definition_kind(place) not in ("function", "method"):
        return ""
    names = set()
    for value in evaluator.returned_values(place, call):
        first = value.value.argument(0) if value.value.kind is ValueKind.CALL else None
        is_handed = first is not None and evaluator.parameter_owner(Located(place.path, first)) == place
        names.add(full_name(evaluator, Located(place.path, value.value)) if is_handed else "")
    return names.pop() if len(names) == 1 else ""


def _called_table(
    evaluator: Evaluator,
    surface: TableSurface,
    rule: TableRule,
    call_rule: TableCallRule,
    path: RepoPath,
    site: Site,
) -> Iterator[Table]:
    """The tables of one call: one for each round of a loop around it."""
    imports = evaluator.code.require_facts(path).imports
    is_migration = any(f"{item.module}.{item.name}" in rule.migrations for item in imports)
    for environment in loop_environments(evaluator, path, site):
        call = Located(path, site.value, environment)
        choice = argument(call, call_rule.name)
        name = evaluator.text(choice) if choice is not None else ""
        if name is None:
            surface.count_dynamic(path)
        if not name:
            continue
        schema = argument(call, call_rule.schema_name) if call_rule.schema_name else None
        yield Table(
            name.removeprefix(":"),  # a symbol
            evaluator.text(schema) if schema is not None else None,
            path,
            evaluator.line_of(path, site.start),
            rule.framework,
            "migration" if is_migration else call_rule.pattern,
        )


def _marked_tables(
    evaluator: Evaluator, surface: TableSurface, rule: TableRule, path: RepoPath
) -> Iterator[Table]:
    markers: dict[Place, dict[str, Located]] = {}
    for site in evaluator.sites(path).sites if rule.markers else ():
        if site.kind is not SiteKind.DECORATOR or site.value.kind is not ValueKind.CALL:
            continue
        call = Located(path, site.value)
        place = evaluator.definition_around(path, site.start)
        if place is not None and evaluator.code.definition_kind(place) in ("class", "struct"):
            markers.setdefault(place, {})[_marker_name(evaluator, rule, call)] = call
    for place, names in markers.items():
        for marker_rule in rule.markers:
            marker = next((names[name] for name in marker_rule.marker if name in names), None)
            if marker is not None:
                yield from _marked_table(evaluator, surface, rule, marker_rule, place, names)


def _marked_table(
    evaluator: Evaluator,
    surface: TableSurface,
    rule: TableRule,
    marker_rule: MarkerRule,
    place: Place,
    names: dict[str, Located],
) -> Iterator[Table]:
    bearers = marker_rule.name_marker or marker_rule.marker
    bearer = next((names[name] for name in bearers if name in names), None)
    choice = argument(bearer, marker_rule.name) if bearer is not None else None
    schema = argument(bearer, marker_rule.schema_name) if bearer is not None else None
    definition = evaluator.code.definition(place)
    name: str | None = ""
    if choice is not None:
        name = evaluator.text(choice)
    elif marker_rule.default:
        name = definition.name if marker_rule.default == "class" else snake_case(definition.name)
    if name is None:
        surface.count_dynamic(place.path)
    if name:
        yield Table(
            name,
            evaluator.text(schema) if schema is not None else None,
            place.path,
            definition.name_line,
            rule.framework,
            "entity",
            place,
        )


def _marker_name(evaluator: Evaluator, rule: TableRule, call: Located) -> str:
    """The full name of a marker, also where the file imports the package of it whole."""
    name = full_name(evaluator, call)
    if "." in name:
        return name
    for item in evaluator.code.require_facts(call.path).imports:
        if item.name == "*" and item.module in rule.packages and name:
            return f"{item.module}.{name}"
    return name


def _prisma_tables(code: Codebase) -> Iterator[Table]:
    for path in code.paths_named("schema.prisma"):
        text = (code.read(path) or b"").decode("utf-8", "replace")
        for match in _PRISMA_MODEL.finditer(text):
            name, schema = _PRISMA_MAP.search(match[2]), _PRISMA_SCHEMA.search(match[2])
            line = text.count("\n", 0, match.start()) + 1
            yield Table(
                name[1] if name else match[1], schema[1] if schema else None, path, line, "prisma", "model"
            )
