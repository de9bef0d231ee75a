from typing import Annotated

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.answers.pages import clamped
from codeplane.core.places import Place
from codeplane.core.proof import Absence, Tier
from codeplane.names import Snapshot
from codeplane.session import Call
from codeplane.surfaces.collectors.table_use import TableUse
from codeplane.surfaces.db_tables import UsedTable, table_surface, tables_with_uses
from codeplane.surfaces.scope import own_files
from codeplane.surfaces.values import Evaluator
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._schema import UNLISTED

MOST = 100
_MOST_DYNAMIC = 10
_MOST_WITNESSES = 3
_MOST_REFERENCES = 10


class SurfacesListDbTablesInput(Input):
    table_filter: Annotated[str | None, synonyms("table", "name", "query", "filter")] = Field(
        default=None, max_length=500, description="Only tables whose names contain this."
    )
    include_tests: bool = Field(
        default=False, description="Also tables in tests and fixtures.", json_schema_extra=UNLISTED
    )
    limit: int = Field(default=20, description="Most tables, up to 100.")


class TableRow(Output):
    name: str = Field(description="Name of the table.")
    schema_name: str | None = Field(default=None, description="Schema, where the code says it.")
    entity: str | None = Field(default=None, description="Class of its rows.")
    path: str = Field(description="File that defines it.")
    line: int = Field(description="Line.")
    framework: str = Field(description="Framework.")
    usage_pattern: str = Field(
        description="What defines it: a model, a call, a migration; `query` where only SQL names it."
    )
    also_defined: list[str] | None = Field(
        default=None, description="Other places that define it: migrations, schema files."
    )
    referenced_by: list[str] | None = Field(
        default=None, description="Symbols that use the entity, and SQL that names the table."
    )

    def render(self) -> str:
        schema = f"{self.schema_name}." if self.schema_name else ""
        entity = f"  {self.entity}" if self.entity else ""
        users = f" used by {', '.join(self.referenced_by)}" if self.referenced_by else ""
        users = f" also {', '.join(self.also_defined)}{users}" if self.also_defined else users
        where = f"{self.path}:{self.line}, {self.framework} {self.usage_pattern}"
        return f"{schema}{self.name}{entity} ({where}){users}"


class SurfacesListDbTablesOutput(Output):
    tables: list[TableRow] = Field(description="Tables by name.")
    total: int = Field(description="Tables that match.")
    truncated: bool | None = Field(default=None, description="Whether there are more than listed.")
    dynamic: dict[str, int] | None = Field(
        default=None, description="Tables by file whose name is only known at run time."
    )
    absence: Absence | None = Field(default=None, description="Why there are none.")

    def render(self) -> str:
        lines = [row.render() for row in self.tables]
        if self.truncated:
            lines.append(f"{self.total - len(self.tables)} more of {self.total}")
        if not lines:
            lines.append("No tables.")
        if self.dynamic:
            files = ", ".join(f"{path} ({count})" for path, count in self.dynamic.items())
            lines.append(f"not listed, the name is only known at run time: {files}")
        return "\n".join(lines)


@tool(Effect.READ, "surfaces")
def surfaces_list_db_tables(call: Call, args: SurfacesListDbTablesInput) -> SurfacesListDbTablesOutput:
    """Lists the database tables of this repository, of models, migrations and SQL, and what uses them.

    Use when:
    - you look for the model behind a table, or for which tables there are
    Not for:
    - the columns of a table (symbols_get_card of the entity)
    Examples:
    - All that have to do with orders: {"table_filter": "order"}
    """
    return call.ask(lambda snapshot: _answer(call, args, snapshot))


def _answer(call: Call, args: SurfacesListDbTablesInput, snapshot: Snapshot) -> SurfacesListDbTablesOutput:
    surface = table_surface(snapshot)
    limit = clamped(call, "limit", args.limit, MOST)
    is_own = own_files(snapshot, include_tests=args.include_tests)
    wanted = (args.table_filter or "").lower()
    matching = [
        table
        for table in tables_with_uses(surface, is_own)
        if wanted in f"{table.table.schema or ''}.{table.table.name}".lower()
    ]
    dynamic = {path: count for path, count in surface.dynamic.items() if is_own(path)}
    evaluator = Evaluator(snapshot)
    return SurfacesListDbTablesOutput(
        tables=[_row(evaluator, snapshot, table) for table in matching[:limit]],
        total=len(matching),
        truncated=len(matching) > limit or None,
        dynamic=dict(sorted(dynamic.items())[:_MOST_DYNAMIC]) or None,
        absence=None if matching or dynamic else Absence.PROVEN_NONE,
    )


def _row(evaluator: Evaluator, snapshot: Snapshot, used: UsedTable) -> TableRow:
    table = used.table
    users = _users(evaluator, snapshot, table.entity) if table.entity is not None else {}
    for use in used.uses:
        if len(users) < _MOST_REFERENCES:
            users.setdefault(_user(snapshot, use))
    return TableRow(
        name=table.name,
        schema_name=table.schema,
        entity=snapshot.qualified(table.entity) if table.entity is not None else None,
        path=table.path,
        line=table.line,
        framework=table.framework,
        usage_pattern=table.pattern,
        also_defined=[f"{one.path}:{one.line} ({one.pattern})" for one in used.witnesses[:_MOST_WITNESSES]]
        or None,
        referenced_by=list(users) or None,
    )


def _user(snapshot: Snapshot, use: TableUse) -> str:
    """Where SQL names a table: the symbol around, or the place."""
    where = snapshot.qualified(use.symbol) if use.symbol is not None else f"{use.path}:{use.line}"
    return f"{where} ({use.statement})"


def _users(evaluator: Evaluator, snapshot: Snapshot, entity: Place) -> dict[str, None]:
    """The functions and classes that name an entity, without itself; at the top of a file, its module."""
    users: dict[str, None] = {}
    for ref in snapshot.references.to(entity):
        if ref.tier is not Tier.STRONG or len(users) >= _MOST_REFERENCES:
            continue
        start = snapshot.all_occurrences(ref.path).lines[ref.line - 1] + ref.column
        around = evaluator.definition_around(ref.path, start)
        if around is not None and around != entity:
            users[snapshot.qualified(around)] = None
    return users
