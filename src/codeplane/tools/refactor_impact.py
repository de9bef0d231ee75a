from collections.abc import Sequence
from typing import Annotated, NamedTuple

from pydantic import Field

from codeplane.core.paths import RepoPath
from codeplane.core.proof import Tier
from codeplane.graph.excerpts import Excerpts
from codeplane.graph.impact import Known, affected_tests
from codeplane.graph.places import place_of, qualified, short
from codeplane.graph.references import Reference, references_to
from codeplane.index import Snapshot
from codeplane.jail import shown
from codeplane.refactor.uses import files_of, path_of, uses_of_files
from codeplane.session import Call
from codeplane.tools._limits import clamped
from codeplane.tools._registry import Effect, Input, Output, synonyms, tool

MOST = 500
_MOST_TESTS = 20


class RefactorImpactInput(Input):
    target: Annotated[str, synonyms("symbol", "path", "name", "file")] = Field(
        min_length=1, max_length=4096, description="A symbol, or the path of a file or directory."
    )
    limit: int = Field(default=60, description="Most references to list, up to 500.")
    cursor: str | None = Field(default=None, description="`next_cursor` of the page before.")


class _Rest(NamedTuple):
    """What is listed page by page."""

    target: str
    found: Sequence[Reference]
    tests: Sequence[str]
    start: int


class ImpactFile(Output):
    path: str = Field(description="File.")
    refs: list[str] = Field(description="`line kind tier [in definition]: text`.")


class RefactorImpactOutput(Output):
    target: str = Field(description="What was asked about.")
    tiers: dict[str, int] = Field(description="How many references of each tier, listed or not.")
    in_files: int = Field(description="How many files have some.")
    files: list[ImpactFile] = Field(description="References by file, best proven first.")
    tests: list[str] | None = Field(default=None, description="Tests that are concerned, sure ones first.")
    more_tests: int | None = Field(default=None, description="Tests beyond those.")
    more: int | None = Field(default=None, description="References after these.")
    next_cursor: str | None = Field(default=None, description="Send it as `cursor` for the next page.")


@tool(Effect.READ, "refactoring")
def refactor_impact(call: Call, args: RefactorImpactInput) -> RefactorImpactOutput:
    """Lists what a symbol, a file or a directory would be missed by: references by tier, and tests.

    Use when:
    - you think of deleting or moving something
    Not for:
    - deleting it: refactor_delete
    Examples:
    - Who needs a module: {"target": "app/load.py"}
    """
    limit = clamped(call, "limit", args.limit, MOST)
    return call.ask(lambda snapshot: _told(call, snapshot, args, limit))


def _told(call: Call, snapshot: Snapshot, args: RefactorImpactInput, limit: int) -> RefactorImpactOutput:
    rest = call.session.cursors.resume(args.cursor, _Rest) if args.cursor is not None else None
    rest = rest or _found(snapshot, args.target)
    end = rest.start + limit
    more = max(0, len(rest.found) - end)
    tests = rest.tests if not rest.start else ()
    return RefactorImpactOutput(
        target=shown(rest.target),
        tiers={tier.value: count for tier in Tier if (count := sum(one.tier is tier for one in rest.found))},
        in_files=len({one.path for one in rest.found}),
        files=_files(snapshot, rest.found[rest.start : end]),
        tests=list(tests[:_MOST_TESTS]) or None,
        more_tests=max(0, len(tests) - _MOST_TESTS) or None,
        more=more or None,
        next_cursor=call.session.cursors.keep(rest._replace(start=end)) if more else None,
    )


def _found(snapshot: Snapshot, target: str) -> _Rest:
    path = path_of(snapshot, target)
    if path is not None:
        files = files_of(snapshot, path)
        uses: Sequence[Reference] = uses_of_files(snapshot, files)
        told, known = str(path), Known()
    else:
        definition = snapshot.symbol(target)
        files, uses = [definition.path], references_to(snapshot, definition).items
        told = qualified(snapshot, place_of(definition))
        known = Known({definition.path: (definition.position,)})
    tests = [one.told for one in affected_tests(snapshot, files, known).tests if one.path not in files]
    return _Rest(told, uses, tests, 0)


def _files(snapshot: Snapshot, found: Sequence[Reference]) -> list[ImpactFile]:
    excerpts = Excerpts(snapshot)
    blobs = snapshot.linker.sources.memo.layout.blobs
    by_path: dict[RepoPath, dict[tuple[int, str], None]] = {}
    for one in found:
        name = short(snapshot, one.around) if one.path in blobs else ""
        said = f"{one.kind} {one.tier}{f' in {name}' if name else ''}"
        by_path.setdefault(one.path, {})[one.line, said] = None
    return [
        ImpactFile(
            path=shown(path),
            refs=[f"{line} {said}: {excerpts.line(path, line)}" for line, said in lines],
        )
        for path, lines in by_path.items()
        if path in blobs
    ]
