"""Changed endpoints, configuration keys and tables, as answers have them and as text."""

from collections.abc import Iterator, Sequence
from typing import Final

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.jail import shown
from codeplane.surfaces.difference.compare import SurfaceChange

_MOST_NAMES: Final = 3
_MOST_LISTED: Final = 20
MOST_SURFACES: Final = 50
_NOUNS: Final = {"endpoint": "endpoint", "config": "configuration key", "table": "table"}


class SurfaceChangeRow(Output):
    kind: str = Field(description="endpoint, config or table.")
    change: str = Field(description="removed, added or changed.")
    aspect: str | None = Field(
        default=None, description="What changed: path, prefix, method, handler, mount, default or name."
    )
    names: list[str] = Field(description="Endpoints, key, table, or the class of a renamed table.")
    old: str | None = Field(default=None, description="What was there before.")
    new: str | None = Field(default=None, description="What is there now.")
    breaking: bool | None = Field(default=None, description="Whether users of the repository have to change.")
    count: int | None = Field(default=None, description="How many it is, where it is several.")
    at: str | None = Field(default=None, description="`path:line`, of what is gone in the old state.")

    def line(self) -> str:
        """The change in one line."""
        is_listed = self.change != "changed" and self.kind != "config"
        behind = [self.new or self.old] if is_listed else []
        where = ", ".join(filter(None, [*behind, self.at]))
        return f"{_sentence(self)}{f' ({where})' if where else ''}"


def surface_rows(changes: Sequence[SurfaceChange]) -> list[SurfaceChangeRow]:
    """The changes as an answer has them, those that break somebody first."""
    return [
        SurfaceChangeRow(
            kind=one.kind,
            change=one.change.value,
            aspect=one.aspect or None,
            names=[shown(name) for name in one.names[:MOST_SURFACES]],
            old=shown(one.old) or None,
            new=shown(one.new) or None,
            breaking=one.is_breaking or None,
            count=len(one.names) if len(one.names) > 1 else None,
            at=f"{shown(one.path)}:{one.line}" if one.path else None,
        )
        for one in changes[:MOST_SURFACES]
    ]


def surface_lines(rows: Sequence[SurfaceChangeRow], more: int) -> Iterator[str]:
    """The changes below a heading."""
    if rows:
        yield "SURFACES"
    yield from (f"  {'BREAKING ' if row.breaking else ''}{row.line()}" for row in rows[:_MOST_LISTED])
    left = more + max(0, len(rows) - _MOST_LISTED)
    if left:
        yield f"  {left} more"


def _sentence(row: SurfaceChangeRow) -> str:
    noun, name = _NOUNS[row.kind], row.names[0]
    match row.change, row.aspect:
        case "changed", "prefix":
            return f"prefix {row.old} → {row.new}: {row.count} endpoints ({_some(row)})"
        case "changed", "path":
            return f"endpoint moved: {name} {row.old} → {row.new}"
        case "changed", "method":
            return f"endpoint serves another method: {row.old} → {row.new} {name}"
        case "changed", "mount":
            return f"endpoint {name} mounted: {row.old} → {row.new}"
        case "changed", "name":
            return f"table renamed: {row.old} → {row.new}, of {name}"
        case "changed", aspect:
            return f"{noun} {name}: {aspect} {row.old} → {row.new}".replace(
                ": default default ", ": default "
            )
    if row.count:
        return f"{row.count} {noun}s {row.change}: {_some(row)}"
    if row.kind == "config":
        status = row.new or row.old
        return (
            f"{'new' if row.change == 'added' else 'no longer read:'} {noun} {name} ({row.aspect}, {status})"
        )
    return f"{noun} {row.change}: {name}"


def _some(row: SurfaceChangeRow) -> str:
    more = (row.count or 1) - _MOST_NAMES
    return ", ".join(row.names[:_MOST_NAMES]) + (f" +{more}" if more > 0 else "")
