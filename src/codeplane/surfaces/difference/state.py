"""The surfaces of one state as values that can be compared with those of another."""

from collections.abc import Mapping
from typing import NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.names import Codebase
from codeplane.surfaces.config_keys import config_surface, group_keys
from codeplane.surfaces.db_tables import table_surface
from codeplane.surfaces.endpoints import endpoints_of
from codeplane.surfaces.routes import Step
from codeplane.surfaces.scope import own_files
from codeplane.surfaces.tracing.route_match import plain_route


class EndpointFact(NamedTuple):
    """What serves a method and path."""

    route: str  # as the framework spells it
    handler: str  # without its module; "" where it is not known
    mount_state: str
    path: RepoPath
    line: int
    chain: tuple[Step, ...] = ()


class KeyFact(NamedTuple):
    """How a configuration key is read."""

    default: str | None
    is_required: bool
    pattern: str
    path: RepoPath
    line: int


class TableFact(NamedTuple):
    """What defines a table."""

    entity: str  # without its module; "" where there is none
    path: RepoPath
    line: int


class SurfaceState(NamedTuple):
    """Endpoints by method and path, keys and tables by name."""

    endpoints: Mapping[tuple[str, str], EndpointFact] = {}
    keys: Mapping[str, KeyFact] = {}
    tables: Mapping[str, TableFact] = {}


def surface_state(code: Codebase) -> SurfaceState:
    """The surfaces of a state, without those of tests, copies of others' code, and built files."""
    is_own = own_files(code)
    endpoints: dict[tuple[str, str], EndpointFact] = {}
    for one in endpoints_of(code).endpoints:
        if is_own(one.path):
            fact = EndpointFact(
                one.route, _name(code, one.handler), one.mounted, one.path, one.line, one.chain
            )
            endpoints.setdefault((one.method, plain_route(one.route)), fact)
    keys: dict[str, KeyFact] = {}
    for key in group_keys(use for use in config_surface(code).uses if is_own(use.path)):
        if key.reads:
            first = key.reads[0]
            is_required = any(use.is_required for use in key.reads) and key.default is None
            keys[key.key] = KeyFact(key.default, is_required, first.pattern, first.path, first.line)
    tables: dict[str, TableFact] = {}
    for table in table_surface(code).tables:
        if is_own(table.path):
            name = f"{table.schema}.{table.name}" if table.schema else table.name
            tables.setdefault(name, TableFact(_name(code, table.entity), table.path, table.line))
    return SurfaceState(endpoints, keys, tables)


def _name(code: Codebase, place: Place | None) -> str:
    """A definition and what holds it in its file: the same where the file is moved."""
    if place is None:
        return ""
    module = code.module_name(place.path)
    return code.qualified(place).removeprefix(f"{module}.")
