from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from codeplane.core.errors import InvalidArgument
from codeplane.core.proof import Absence
from codeplane.graph.hierarchy import (
    INTERFACES,
    Related,
    bases,
    derived,
    descendants,
    has_silent_types,
    is_class,
)
from codeplane.graph.places import definition_of, place_of, position, qualified, short
from codeplane.index import Snapshot
from codeplane.index.targets import CLASSES
from codeplane.jail import shown
from codeplane.languages.modules import Place
from codeplane.session import Call
from codeplane.tools._limits import clamped
from codeplane.tools._registry import Effect, Input, Output, synonyms, tool

MOST = 500


class TypesHierarchyInput(Input):
    symbol: Annotated[str, synonyms("symbol_id", "name", "query", "type")] = Field(
        description="Class or interface: qualified name or its end, `path:line`, or `sym_…`."
    )
    all_levels: bool = Field(default=False, description="Everything derived, not only directly.")
    limit: int = Field(default=20, description="Most derived types to list, up to 500.")


class TypesHierarchyOutput(Output):
    symbol: str = Field(description="Qualified name of the type.")
    at: str = Field(description="Where it is defined.")
    kind: str = Field(description="Kind of definition.")
    bases: list[str] | None = Field(
        default=None, description="`tier name path:line` of the classes it extends; outside ones by name."
    )
    interfaces: list[str] | None = Field(default=None, description="The same of interfaces and traits.")
    derived: list[str] | None = Field(default=None, description="`tier name path:line` of derived types.")
    more: int | None = Field(default=None, description="Derived types beyond the limit.")
    hint: str | None = Field(default=None, description="What the list may lack.")
    absence: str | None = Field(default=None, description="Why there is nothing to tell.")


@tool(Effect.READ, "graph", standard=True)
def types_hierarchy(call: Call, args: TypesHierarchyInput) -> TypesHierarchyOutput:
    """Shows what a class extends and implements, and what is derived from it.

    Use when:
    - you change a base class or interface, or look for its implementations
    Not for:
    - who uses the class (use `refs_find`)
    Examples:
    - Bases and direct subclasses: {"symbol": "django.forms.Form"}
    """
    limit = clamped(call, "limit", args.limit, MOST)
    with call.snapshot() as snapshot:
        return _hierarchy(call, snapshot, args, limit)


def _hierarchy(call: Call, snapshot: Snapshot, args: TypesHierarchyInput, limit: int) -> TypesHierarchyOutput:
    definition = snapshot.symbol(args.symbol, CLASSES)
    place = place_of(definition)
    if not is_class(snapshot, place):
        raise InvalidArgument(f"{qualified(snapshot, place)} is a {definition.kind}, not a type.")
    above = bases(snapshot, place)
    interfaces = [one for one in above if _is_interface(snapshot, one)]
    if args.all_levels:
        below = [one for one, _ in descendants(snapshot, place)]
    else:
        below = list(derived(snapshot, place))
    _compare(call, snapshot, [place, *(one.place for one in (*above, *below) if one.place)])
    is_silent = has_silent_types(snapshot, place)
    absence = snapshot.why_none(definition.name) if not above and not below else None
    if absence is not None and is_silent:
        absence = Absence.LANGUAGE_GAP
    return TypesHierarchyOutput(
        symbol=qualified(snapshot, place),
        at=position(snapshot, place),
        kind=definition.kind,
        bases=[_told(snapshot, one) for one in above if one not in interfaces] or None,
        interfaces=[_told(snapshot, one) for one in interfaces] or None,
        derived=[_told(snapshot, one) for one in below[:limit]] or None,
        more=max(0, len(below) - limit) or None,
        hint="Types may implement it without saying so; those are not listed." if is_silent else None,
        absence=absence.value if absence else None,
    )


def _compare(call: Call, snapshot: Snapshot, places: Sequence[Place]) -> None:
    """Without the tool: the headers of these types as grep prints them, then the first three files."""
    printed = sum(len(one.path) + len(definition_of(snapshot, one).signature) for one in places)
    call.instead_of_files(snapshot, (one.path for one in places), printed)


def _is_interface(snapshot: Snapshot, one: Related) -> bool:
    return one.place is not None and definition_of(snapshot, one.place).kind in INTERFACES


def _told(snapshot: Snapshot, one: Related) -> str:
    if one.place is None:
        return shown(one.name)
    return f"{one.tier} {short(snapshot, one.place)} {position(snapshot, one.place)}"
