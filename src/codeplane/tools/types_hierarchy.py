from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.answers.pages import clamped
from codeplane.core.errors import InvalidArgument
from codeplane.core.kinds import CLASSES
from codeplane.core.places import Place
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
from codeplane.graph.method_sets import Implementers, implemented, implementers
from codeplane.graph.places import place_of, position, qualified, short
from codeplane.graph.possible_uses import CERTAIN
from codeplane.jail import shown
from codeplane.names import Snapshot
from codeplane.session import Call
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._schema import UNLISTED

MOST = 500
_BY_METHODS = "(methods compared by name and number of parameters and results)"


class TypesHierarchyInput(Input):
    symbol: Annotated[str, synonyms("symbol_id", "name", "query", "type")] = Field(
        description="Class or interface: qualified name or its end, `path:line`, or `sym_…`."
    )
    all_levels: bool = Field(default=False, description="Everything derived, not only directly.")
    limit: int = Field(
        default=50, description="Most derived types to list, up to 500.", json_schema_extra=UNLISTED
    )


class RelatedType(Output):
    name: str = Field(description="Name in its file; outside the repository as written.")
    at: str | None = Field(default=None, description="Where it is defined.")
    tier: str | None = Field(default=None, description="How far the relation is proven.")

    def line(self) -> str:
        mark = "" if self.tier in (None, *CERTAIN) else " (possible)"
        return f"{self.name} ({self.at}){mark}" if self.at else self.name


class TypesHierarchyOutput(Output):
    symbol: str = Field(description="Qualified name of the type.")
    at: str = Field(description="Where it is defined.")
    kind: str = Field(description="Kind of definition.")
    bases: list[RelatedType] | None = Field(default=None, description="Classes that it extends.")
    interfaces: list[RelatedType] | None = Field(default=None, description="Interfaces and traits.")
    derived: list[RelatedType] | None = Field(default=None, description="Derived types.")
    implementations: list[RelatedType] | None = Field(
        default=None, description="Types that implement it without naming it."
    )
    implements: list[RelatedType] | None = Field(
        default=None, description="Interfaces that it implements without naming them."
    )
    more: int | None = Field(default=None, description="Derived types beyond the limit.")
    hint: str | None = Field(default=None, description="What the list may miss.")
    absence: str | None = Field(default=None, description="Why the answer is empty.")

    def render(self) -> str:
        lines = [f"{self.kind} {self.symbol} ({self.at})"]
        lines += [f"extends: {', '.join(one.line() for one in self.bases)}"] if self.bases else []
        lines += (
            [f"implements: {', '.join(one.line() for one in self.interfaces)}"] if self.interfaces else []
        )
        if self.implements:
            for heading, some in _by_certainty("implements", self.implements):
                lines.append(f"{heading}: {', '.join(map(_named, some))}")
        lines += _by_file("derived", self.derived or (), self.more or 0)
        for heading, some in _by_certainty("implemented by", self.implementations or ()):
            lines += _by_file(heading, some, is_marked=False)
        lines += [f"{self.more} more"] if self.more else []
        return "\n".join([*lines, *filter(None, [self.hint, self.absence and f"nothing: {self.absence}"])])


def _by_certainty(word: str, types: Sequence[RelatedType]) -> list[tuple[str, list[RelatedType]]]:
    """Types that an indexer knows of, then those that only have the members."""
    sure = [one for one in types if one.tier in CERTAIN]
    groups = [(word, sure), (f"{word} {_BY_METHODS}", [one for one in types if one not in sure])]
    return [group for group in groups if group[1]]


def _named(one: RelatedType) -> str:
    return f"{one.name} ({one.at})"


def _by_file(
    heading: str, types: Sequence[RelatedType], more: int = 0, *, is_marked: bool = True
) -> list[str]:
    """How many there are, and where."""
    files: dict[str, list[str]] = {}
    for one in types:
        path, _, line = (one.at or "").rpartition(":")
        mark = " (possible)" if is_marked and one.tier not in CERTAIN else ""
        files.setdefault(path, []).append(f"{line}: {one.name}{mark}")
    lines = [f"{heading}: {len(types) + more}"] if files else []
    return lines + [line for path, some in files.items() for line in (path, *some)]


@tool(Effect.READ, "graph", standard=True)
def types_hierarchy(call: Call, args: TypesHierarchyInput) -> TypesHierarchyOutput:
    """Shows what a class extends and implements, and what is derived from it.

    Use when:
    - you change a base class or interface, or look for its implementations
    Examples:
    - Bases and direct subclasses: {"symbol": "django.forms.Form"}
    """
    limit = clamped(call, "limit", args.limit, MOST)
    with call.snapshot() as snapshot:
        return _make_output(call, snapshot, args, limit)


def _make_output(
    call: Call, snapshot: Snapshot, args: TypesHierarchyInput, limit: int
) -> TypesHierarchyOutput:
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
    silent = implementers(snapshot, place)
    places = {one.place for one in below}
    types = [one for one in silent.types if one.place not in places] if silent is not None else []
    protocols = [one for one in implemented(snapshot, place) if one not in above]
    absence = snapshot.why_none(definition.name) if not (above or below or types or protocols) else None
    if absence is not None and is_silent:
        absence = Absence.LANGUAGE_GAP
    return TypesHierarchyOutput(
        symbol=qualified(snapshot, place),
        at=position(snapshot, place),
        kind=definition.kind,
        bases=[_related(snapshot, one) for one in above if one not in interfaces] or None,
        interfaces=[_related(snapshot, one) for one in interfaces] or None,
        derived=[_related(snapshot, one) for one in below[:limit]] or None,
        more=max(0, len(below) - limit) or None,
        implementations=[_related(snapshot, one) for one in types[:limit]] or None,
        implements=[_related(snapshot, one) for one in protocols[:limit]] or None,
        hint=_render_hint(silent) if is_silent else None,
        absence=absence.value if absence else None,
    )


def _render_hint(silent: Implementers | None) -> str | None:
    """What the list of implementations may lack."""
    if silent is None:
        return "Types may implement it implicitly; those are not listed."
    return (
        f"not compared: the methods of {', '.join(silent.open_interfaces)}"
        if silent.open_interfaces
        else None
    )


def _compare(call: Call, snapshot: Snapshot, places: Sequence[Place]) -> None:
    """Without the tool: the headers of these types as grep prints them, then the first three files."""
    count = sum(len(one.path) + len(snapshot.definition(one).item.signature) for one in places)
    call.instead_of_files(snapshot, (one.path for one in places), count)


def _is_interface(snapshot: Snapshot, one: Related) -> bool:
    return one.place is not None and snapshot.definition(one.place).kind in INTERFACES


def _related(snapshot: Snapshot, one: Related) -> RelatedType:
    if one.place is None:
        return RelatedType(name=shown(one.name))
    return RelatedType(name=short(snapshot, one.place), at=position(snapshot, one.place), tier=one.tier.value)
