import json
from collections.abc import Sequence
from typing import Annotated, NamedTuple

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.answers.pages import clamped
from codeplane.answers.references import counted, reference_lines
from codeplane.answers.semantics import with_age
from codeplane.core.paths import RepoPath
from codeplane.core.proof import Tier
from codeplane.graph.excerpts import Excerpts
from codeplane.graph.places import short
from codeplane.graph.possible_uses import CERTAIN
from codeplane.graph.references import Kind, Reference, References, references_to, why_possible
from codeplane.jail import shown
from codeplane.names import Snapshot
from codeplane.search.missing_file import existing
from codeplane.search.result_pages import beyond
from codeplane.session import Call
from codeplane.tools._parameters import SymbolName
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._schema import UNLISTED

MOST = 500
_SAMPLED = 50


class RefsFindInput(Input):
    symbol: SymbolName
    kinds: Annotated[list[Kind] | None, synonyms("kind")] = Field(
        default=None, description="Only these kinds."
    )
    tiers: Annotated[list[Tier] | None, synonyms("tier")] = Field(
        default=None, description="Only these tiers.", json_schema_extra=UNLISTED
    )
    path: str | None = Field(default=None, description="Only below this path.")
    limit: int = Field(
        default=50, description="Most references to list, up to 500.", json_schema_extra=UNLISTED
    )
    cursor: str | None = Field(default=None, description="`next_cursor` of the previous page.")


class _Rest(NamedTuple):
    """What is listed page by page, as it was when the first was asked for."""

    references: References
    blobs: dict[RepoPath, int | None]
    start: int


class FoundReference(Output):
    line: int = Field(description="Line of the reference.")
    kind: str = Field(description="What it does.")
    tier: str = Field(description="Certainty tier.")
    within: str | None = Field(default=None, description="Enclosing definition.")
    text: str = Field(description="Source line.")
    why: str | None = Field(default=None, description="Why it is not certain.")


class FileReferences(Output):
    path: str = Field(description="File.")
    refs: list[FoundReference] = Field(description="References in the file, one per line and kind.")


class RefsFindOutput(Output):
    symbol: str = Field(description="Qualified name of the definition.")
    at: str = Field(description="Where it is defined.")
    tiers: dict[str, int] = Field(description="How many there are of each tier, listed or not.")
    kinds: dict[str, int] = Field(description="How many there are of each kind, listed or not.")
    indexers: dict[str, int] | None = Field(
        default=None, description="How many certain ones only a batch indexer says, by indexer and age."
    )
    files: list[FileReferences] = Field(description="References by file, certain ones first.")
    more: int | None = Field(default=None, description="References on later pages.")
    next_cursor: str | None = Field(default=None, description="Send it as `cursor` for the next page.")
    changed: list[str] | None = Field(
        default=None, description="Files that changed since the first page; their references are left out."
    )
    absence: str | None = Field(default=None, description="Why there are none.")

    def render(self) -> str:
        said = "".join(f"; {count} by {name}" for name, count in (self.indexers or {}).items())
        lines = [f"{self.symbol} ({self.at}): {counted(self.tiers, self.kinds)}{said}"]
        lines += reference_lines(self.files)
        lines += [f"{self.more} more"] if self.more else []
        lines += [f"changed since the first page, left out: {path}" for path in self.changed or ()]
        return "\n".join([*lines, *([f"none: {self.absence}"] if self.absence else [])])


@tool(Effect.READ, "symbols", standard=True)
def refs_find(call: Call, args: RefsFindInput) -> RefsFindOutput:
    """Lists every reference to a symbol, by file with the text of each line.

    Certain ones come first; possible ones follow, with the reason.

    Use when:
    - you want to know who uses a symbol and how
    Not for:
    - searching text, or names that you are not sure of (use `search`)
    Examples:
    - All uses of a method: {"symbol": "Model.save"}
    - Only certain writes: {"symbol": "core.Config.debug", "kinds": ["write"], "tiers": ["proven", "strong"]}
    """
    limit = clamped(call, "limit", args.limit, MOST)
    return call.ask(lambda snapshot: _find(call, snapshot, args, limit))


def _find(call: Call, snapshot: Snapshot, args: RefsFindInput, limit: int) -> RefsFindOutput:
    definition = snapshot.symbol(args.symbol)
    rest = call.session.cursors.resume(args.cursor, _Rest) if args.cursor is not None else None
    if rest is None:
        below = existing(snapshot, snapshot.paths, args.path) if args.path else ""
        references = references_to(snapshot, definition, args.kinds or (), args.tiers or (), below)
        blobs = snapshot.layout.blobs
        rest = _Rest(references, {one.path: blobs.get(one.path) for one in references.items}, 0)
    excerpts = Excerpts(snapshot)
    end = rest.start + limit
    more = len(rest.references.items) - end
    if more <= beyond(limit):
        end, more = len(rest.references.items), 0
    files, paths = _page(snapshot, rest, end)
    if not rest.start:
        _compare(call, snapshot, excerpts, rest.references.items)
    cursor = call.session.cursors.keep(rest._replace(start=end)) if more else None
    if cursor is not None:
        arguments = json.dumps({"symbol": args.symbol, "cursor": cursor}, ensure_ascii=False)
        call.next_actions.append(f"refs_find {arguments}")
    return RefsFindOutput(
        symbol=shown(snapshot.qualified_name(definition.path, definition.position)),
        at=f"{shown(definition.path)}:{definition.name_line}",
        tiers={tier.value: count for tier, count in rest.references.tiers.items()},
        kinds={kind.value: count for kind, count in rest.references.kinds.items()},
        indexers=with_age(snapshot, rest.references.by_indexer) or None,
        files=[
            FileReferences(path=shown(path), refs=_lines(snapshot, excerpts, refs))
            for path, refs in files.items()
        ],
        more=more or None,
        next_cursor=cursor,
        changed=[shown(path) for path in paths] or None,
        absence=rest.references.absence.value if rest.references.absence else None,
    )


def _page(
    snapshot: Snapshot, rest: _Rest, end: int
) -> tuple[dict[RepoPath, list[Reference]], list[RepoPath]]:
    """The references of a page by file, and the files whose content is not what it was."""
    blobs = snapshot.layout.blobs
    files: dict[RepoPath, list[Reference]] = {}
    for one in rest.references.items[rest.start : end]:
        files.setdefault(one.path, []).append(one)
    paths = [path for path in files if blobs.get(path) != rest.blobs[path]]
    return {path: refs for path, refs in files.items() if path not in paths}, paths


def _lines(snapshot: Snapshot, excerpts: Excerpts, refs: Sequence[Reference]) -> list[FoundReference]:
    """One for all references of a sort on a line."""
    alike = {(one.path, one.line, one.kind, one.tier, one.around): one for one in refs}
    return [
        FoundReference(
            line=one.line,
            kind=one.kind.value,
            tier=one.tier.value,
            within=short(snapshot, one.around) or None,
            text=excerpts.line(one.path, one.line),
            why=None if one.tier in CERTAIN else why_possible(snapshot, one),
        )
        for one in alike.values()
    ]


def _compare(call: Call, snapshot: Snapshot, excerpts: Excerpts, references: Sequence[Reference]) -> None:
    """Without the tool: the lines as grep prints them, then the first three files."""
    some = references[:_SAMPLED]
    if some:
        count = sum(len(one.path) + len(excerpts.line(one.path, one.line)) + 6 for one in some)
        call.instead_of_files(snapshot, (one.path for one in some), count * len(references) // len(some))
