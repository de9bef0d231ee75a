from collections.abc import Callable, Iterator
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.answers.pages import clamped
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Absence
from codeplane.names import Snapshot
from codeplane.session import Call
from codeplane.surfaces.config_keys import config_surface
from codeplane.surfaces.db_tables import table_surface, tables_with_uses
from codeplane.surfaces.endpoints import endpoints_of
from codeplane.surfaces.fact_lists import fact_surface, optional_frameworks
from codeplane.surfaces.scope import own_files
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._schema import UNLISTED

MOST: Final = 100
_MOST_DYNAMIC: Final = 10

SurfaceKind = Literal["endpoint", "config", "table", "di", "middleware", "exception", "log", "retry"]


class SurfacesListInput(Input):
    kind: Annotated[SurfaceKind, synonyms("fact_kind", "type", "surface")] = Field(
        description="What to list."
    )
    name_filter: Annotated[str | None, synonyms("name", "query", "filter", "key_filter", "table_filter")] = (
        Field(default=None, max_length=500, description="Only what contains this in its name or detail.")
    )
    path_filter: Annotated[str | None, synonyms("path", "route")] = Field(
        default=None, max_length=500, description="Only files, or routes of endpoints, that contain this."
    )
    http_method: Annotated[str | None, synonyms("method", "verb")] = Field(
        default=None, max_length=20, description="Only endpoints of this method.", json_schema_extra=UNLISTED
    )
    framework: str | None = Field(
        default=None, max_length=100, description="Only this framework; `console` is listed only so."
    )
    include_tests: bool = Field(
        default=False, description="Also those in tests and fixtures.", json_schema_extra=UNLISTED
    )
    limit: int = Field(default=20, description="Most rows, up to 100.")


class SurfaceRow(Output):
    name: str = Field(description="Route, key, table, service, middleware, class, template or what is tried.")
    detail: str | None = Field(default=None, description="Lifetime, level, limits, default, `rethrow`.")
    target: str | None = Field(default=None, description="Implementation or handler.")
    symbol: str | None = Field(default=None, description="Symbol around it.")
    path: str = Field(description="File.")
    line: int = Field(description="Line.")
    framework: str = Field(description="Framework or language.")
    position: int | None = Field(default=None, description="Of middleware, in the order in which it runs.")
    tier: str | None = Field(default=None, description="How far it is proven, if less than STRONG.")
    is_conditional: bool | None = Field(default=None, description="Whether it stands in a condition.")

    def render(self) -> str:
        position = f"{self.position}. " if self.position else ""
        detail = f"{self.detail} " if self.detail else ""
        target = f" -> {self.target}" if self.target else ""
        symbol = f" in {self.symbol}" if self.symbol else ""
        condition = " [conditional]" if self.is_conditional else ""
        where = f"({self.path}:{self.line}, {self.framework})"
        return f"{position}{detail}{self.name}{target}{symbol} {where}{condition}"


class SurfacesListOutput(Output):
    kind: str = Field(description="What is listed.")
    rows: list[SurfaceRow] = Field(description="By file and line; endpoints, keys and tables by name.")
    total: int = Field(description="Rows that match.")
    truncated: bool | None = Field(default=None, description="Whether there are more than listed.")
    dynamic: dict[str, int] | None = Field(
        default=None, description="Those by file whose name is only known at run time."
    )
    absence: Absence | None = Field(default=None, description="Why there are none.")

    def render(self) -> str:
        lines = [row.render() for row in self.rows]
        if self.truncated:
            lines.append(f"{self.total - len(self.rows)} more of {self.total}")
        if not lines:
            lines.append(f"None of kind {self.kind}.")
        if self.dynamic:
            files = ", ".join(f"{path} ({count})" for path, count in self.dynamic.items())
            lines.append(f"not listed, only known at run time: {files}")
        return "\n".join(lines)


class _Entry(NamedTuple):
    """What a row is made of; symbols get their names only when they are listed."""

    name: str
    path: RepoPath
    line: int
    framework: str
    detail: str = ""
    target: str | Place | None = None
    symbol: Place | None = None
    position: int = 0
    tier: str = "STRONG"
    is_conditional: bool = False


@tool(Effect.READ, "surfaces")
def surfaces_list(call: Call, args: SurfacesListInput) -> SurfacesListOutput:
    """Lists what this repository offers and needs, of one kind.

    Kinds: endpoint, config, table, di (registrations of services), middleware (in running order), exception
    (what is raised), log (templates with level), retry (policies).

    Use when:
    - you look for what is registered, raised, logged or tried again, and where
    Not for:
    - all details of endpoints, keys and tables (each has a tool of its own: surfaces_list_endpoints)
    Examples:
    - Where a time-out is raised: {"kind": "exception", "name_filter": "Timeout"}
    - What requests pass through: {"kind": "middleware"}
    """
    return call.ask(lambda snapshot: _answer(call, args, snapshot))


def _answer(call: Call, args: SurfacesListInput, snapshot: Snapshot) -> SurfacesListOutput:
    limit = clamped(call, "limit", args.limit, MOST)
    is_own = own_files(snapshot, include_tests=args.include_tests)
    entries, dynamic = _entries(args.kind, snapshot, is_own)
    optional = optional_frameworks(snapshot) if args.framework is None else set()
    matching = [
        entry
        for entry in entries
        if entry.framework not in optional and _matches(entry, args) and is_own(entry.path)
    ]
    dynamic = {path: count for path, count in dynamic.items() if is_own(path)}
    return SurfacesListOutput(
        kind=args.kind,
        rows=[_row(snapshot, entry) for entry in matching[:limit]],
        total=len(matching),
        truncated=len(matching) > limit or None,
        dynamic=dict(sorted(dynamic.items())[:_MOST_DYNAMIC]) or None,
        absence=None if matching or dynamic else Absence.PROVEN_NONE,
    )


def _matches(entry: _Entry, args: SurfacesListInput) -> bool:
    if args.framework is not None and args.framework.lower() != entry.framework.lower():
        return False
    if args.name_filter:
        target = entry.target if isinstance(entry.target, str) else ""
        if args.name_filter.lower() not in f"{entry.name} {entry.detail} {target}".lower():
            return False
    if args.kind == "endpoint":
        if args.http_method and entry.detail not in (args.http_method.upper(), "ANY", "ALL"):
            return False
        return not args.path_filter or args.path_filter.lower() in entry.name.lower()
    return not args.path_filter or args.path_filter.lower() in entry.path.lower()


def _entries(
    kind: SurfaceKind, snapshot: Snapshot, is_own: Callable[[RepoPath], bool]
) -> tuple[Iterator[_Entry], dict[RepoPath, int]]:
    match kind:
        case "endpoint":
            surface = endpoints_of(snapshot)
            return (
                _Entry(e.route, e.path, e.line, e.framework, e.method, e.handler, None, 0, e.tier.name)
                for e in surface.endpoints
            ), surface.dynamic
        case "config":
            keys = config_surface(snapshot)
            return (
                _Entry(
                    use.key,
                    use.path,
                    use.line,
                    use.pattern,
                    "defined" if use.is_definition else f"default {use.default!r}" if use.default else "",
                    None,
                    use.symbol,
                )
                for use in keys.uses
            ), keys.dynamic
        case "table":
            tables = table_surface(snapshot)
            return (
                _Entry(
                    f"{table.schema}.{table.name}" if table.schema else table.name,
                    table.path,
                    table.line,
                    table.framework,
                    table.pattern,
                    table.entity,
                )
                for table, *_ in tables_with_uses(tables, is_own)
            ), tables.dynamic
        case _:
            facts = fact_surface(snapshot, kind)
            return (
                _Entry(
                    fact.name,
                    fact.path,
                    fact.line,
                    fact.framework,
                    fact.detail,
                    fact.target or fact.definition,
                    fact.symbol,
                    fact.position,
                    fact.tier.name,
                    fact.is_conditional,
                )
                for fact in facts.facts
            ), facts.dynamic


def _row(snapshot: Snapshot, entry: _Entry) -> SurfaceRow:
    target = entry.target
    if isinstance(target, Place):
        target = snapshot.qualified(target) if target != entry.symbol else None
    symbol = snapshot.qualified(entry.symbol) if entry.symbol is not None else None
    return SurfaceRow(
        name=entry.name,
        detail=entry.detail or None,
        target=target if target != entry.name else None,
        symbol=symbol if symbol != entry.name else None,
        path=entry.path,
        line=entry.line,
        framework=entry.framework,
        position=entry.position or None,
        tier=None if entry.tier == "STRONG" else entry.tier,
        is_conditional=entry.is_conditional or None,
    )
