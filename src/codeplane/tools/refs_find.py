from collections import Counter
from collections.abc import Sequence
from typing import Annotated, NamedTuple

from pydantic import Field

from codeplane.core.paths import RepoPath
from codeplane.core.proof import Tier
from codeplane.graph.excerpts import Excerpts
from codeplane.graph.places import short
from codeplane.graph.references import Kind, Reference, References, references_to
from codeplane.index import Snapshot
from codeplane.jail import shown
from codeplane.search.missing import existing
from codeplane.session import Call
from codeplane.tools._limits import clamped
from codeplane.tools._registry import Effect, Input, Output, synonyms, tool
from codeplane.tools._symbol import SymbolName

MOST = 500
_SAMPLED = 50


class RefsFindInput(Input):
    symbol: SymbolName
    kinds: Annotated[list[Kind] | None, synonyms("kind")] = Field(
        default=None, description="Only these kinds."
    )
    tiers: Annotated[list[Tier] | None, synonyms("tier")] = Field(
        default=None, description="Only these tiers."
    )
    path: str | None = Field(default=None, description="Only below this path.")
    limit: int = Field(default=50, description="Most references to list, up to 500.")
    cursor: str | None = Field(default=None, description="`next_cursor` of the page before.")


class _Rest(NamedTuple):
    """What is listed page by page, as it was when the first was asked for."""

    found: References
    blobs: dict[RepoPath, int | None]
    start: int


class FileReferences(Output):
    path: str = Field(description="File.")
    refs: list[str] = Field(description="`line kind tier [×count] [in definition]: text`.")


class RefsFindOutput(Output):
    symbol: str = Field(description="Qualified name of the definition.")
    at: str = Field(description="Where it is defined.")
    tiers: dict[str, int] = Field(description="How many there are of each tier, listed or not.")
    kinds: dict[str, int] = Field(description="How many there are of each kind, listed or not.")
    files: list[FileReferences] = Field(description="References by file, best proven first.")
    more: int | None = Field(default=None, description="References after these.")
    next_cursor: str | None = Field(default=None, description="Send it as `cursor` for the next page.")
    changed: list[str] | None = Field(
        default=None, description="Files that changed since the first page; theirs are left out."
    )
    absence: str | None = Field(default=None, description="Why there are none.")


@tool(Effect.READ, "symbols", standard=True)
def refs_find(call: Call, args: RefsFindInput) -> RefsFindOutput:
    """Lists every reference to a symbol: what it does, how far it is proven, where it stands.

    Tiers: proven (same file), strong (imports, known classes), anchored (a receiver of unknown class),
    unknown. Totals are complete even when the list is cut.

    Use when:
    - you change, move or delete a symbol, or want to know who uses it and how
    Not for:
    - searching text, or names that you are not sure of (use `search`)
    Examples:
    - All uses of a method: {"symbol": "Model.save"}
    - Only sure writes: {"symbol": "app.core.Config.debug", "kinds": ["write"], "tiers": ["proven", "strong"]}
    """
    limit = clamped(call, "limit", args.limit, MOST)
    return call.ask(lambda snapshot: _find(call, snapshot, args, limit))


def _find(call: Call, snapshot: Snapshot, args: RefsFindInput, limit: int) -> RefsFindOutput:
    definition = snapshot.symbol(args.symbol)
    rest = call.session.cursors.resume(args.cursor, _Rest) if args.cursor is not None else None
    if rest is None:
        below = existing(snapshot, call.repo.tree, args.path) if args.path else ""
        found = references_to(snapshot, definition, args.kinds or (), args.tiers or (), below)
        blobs = snapshot.linker.sources.memo.layout.blobs
        rest = _Rest(found, {one.path: blobs.get(one.path) for one in found.items}, 0)
    excerpts = Excerpts(snapshot)
    files, changed = _page(snapshot, rest, limit)
    end = rest.start + limit
    more = max(0, len(rest.found.items) - end)
    if not rest.start:
        _compare(call, snapshot, excerpts, rest.found.items)
    return RefsFindOutput(
        symbol=shown(snapshot.qualified_name(definition.path, definition.position)),
        at=f"{shown(definition.path)}:{definition.name_line}",
        tiers={tier.value: count for tier, count in rest.found.tiers.items()},
        kinds={kind.value: count for kind, count in rest.found.kinds.items()},
        files=[
            FileReferences(path=shown(path), refs=_lines(snapshot, excerpts, refs))
            for path, refs in files.items()
        ],
        more=more or None,
        next_cursor=call.session.cursors.keep(rest._replace(start=end)) if more else None,
        changed=[shown(path) for path in changed] or None,
        absence=rest.found.absence.value if rest.found.absence else None,
    )


def _page(
    snapshot: Snapshot, rest: _Rest, limit: int
) -> tuple[dict[RepoPath, list[Reference]], list[RepoPath]]:
    """The references of a page by file, and the files whose content is not what it was."""
    blobs = snapshot.linker.sources.memo.layout.blobs
    files: dict[RepoPath, list[Reference]] = {}
    for one in rest.found.items[rest.start : rest.start + limit]:
        files.setdefault(one.path, []).append(one)
    changed = [path for path in files if blobs.get(path) != rest.blobs[path]]
    return {path: refs for path, refs in files.items() if path not in changed}, changed


def _lines(snapshot: Snapshot, excerpts: Excerpts, refs: Sequence[Reference]) -> list[str]:
    """One line for all references of a sort on a line."""
    alike = Counter((one.path, one.line, one.kind, one.tier, one.around) for one in refs)
    lines = []
    for (path, line, kind, tier, around), count in alike.items():
        name = short(snapshot, around)
        said = f"{line} {kind} {tier}{f' ×{count}' if count > 1 else ''}{f' in {name}' if name else ''}"
        lines.append(f"{said}: {excerpts.line(path, line)}")
    return lines


def _compare(call: Call, snapshot: Snapshot, excerpts: Excerpts, found: Sequence[Reference]) -> None:
    """Without the tool: the lines as grep prints them, then the first three files."""
    some = found[:_SAMPLED]
    if some:
        printed = sum(len(one.path) + len(excerpts.line(one.path, one.line)) + 6 for one in some)
        call.instead_of_files(snapshot, (one.path for one in some), printed * len(found) // len(some))
