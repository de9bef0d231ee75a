import json
from collections.abc import Sequence
from typing import Annotated, NamedTuple

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.answers.pages import clamped
from codeplane.answers.references import counted, reference_lines
from codeplane.core.paths import RepoPath
from codeplane.core.proof import Tier
from codeplane.graph.excerpts import Excerpts
from codeplane.graph.places import place_of, qualified, short
from codeplane.graph.possible_uses import CERTAIN, why_open
from codeplane.graph.references import Reference, references_to, use_of
from codeplane.graph.tests.impact import Known, affected_tests
from codeplane.jail import shown
from codeplane.names import Snapshot
from codeplane.refactor.moves.file_uses import files_of, path_of, uses_of_files
from codeplane.session import Call
from codeplane.tools._registry import Effect, Input, synonyms, tool

MOST = 500
_MOST_TESTS = 20
_FEW_TESTS = 5


class RefactorImpactInput(Input):
    target: Annotated[str, synonyms("symbol", "path", "name", "file")] = Field(
        min_length=1, max_length=4096, description="A symbol, or the path of a file or directory."
    )
    limit: int = Field(default=60, description="Most references to list, up to 500.")
    cursor: str | None = Field(default=None, description="`next_cursor` of the previous page.")


class _Rest(NamedTuple):
    """What is listed page by page."""

    target: str
    references: Sequence[Reference]
    tests: Sequence[str]
    start: int


class ImpactLine(Output):
    line: int = Field(description="Line of the reference.")
    kind: str = Field(description="What it does.")
    tier: str = Field(description="Certainty tier.")
    within: str | None = Field(default=None, description="Enclosing definition.")
    text: str = Field(description="Source line.")
    why: str | None = Field(default=None, description="Why it is not certain, with the receiver.")


class ImpactFile(Output):
    path: str = Field(description="File.")
    refs: list[ImpactLine] = Field(description="References in the file.")


class RefactorImpactOutput(Output):
    target: str = Field(description="What was queried.")
    tiers: dict[str, int] = Field(description="How many references of each tier, listed or not.")
    in_files: int = Field(description="Number of files with references.")
    files: list[ImpactFile] = Field(description="References by file, certain ones first.")
    tests: list[str] | None = Field(default=None, description="Affected tests, certain ones first.")
    more_tests: int | None = Field(default=None, description="Tests beyond those.")
    more: int | None = Field(default=None, description="References on later pages.")
    next_cursor: str | None = Field(default=None, description="Send it as `cursor` for the next page.")

    def render(self) -> str:
        lines = [f"{self.target}: {counted(self.tiers, {})} in {self.in_files} files"]
        lines += reference_lines(self.files)
        lines += [f"{self.more} more"] if self.more else []
        tests = self.tests or []
        left = len(tests) - _FEW_TESTS + (self.more_tests or 0)
        more = f" and {left} more" if left > 0 else ""
        lines += [f"affected tests: {', '.join(tests[:_FEW_TESTS])}{more}"] if tests else []
        return "\n".join(lines)


@tool(Effect.READ, "refactoring", reads_state=True)
def refactor_impact(call: Call, args: RefactorImpactInput) -> RefactorImpactOutput:
    """Lists what depends on a symbol, a file or a directory: references by tier, and tests.

    Use when:
    - you consider deleting or moving something
    Not for:
    - deleting it: refactor_delete
    Examples:
    - Who needs a module: {"target": "app/load.py"}
    """
    limit = clamped(call, "limit", args.limit, MOST)
    return call.ask(lambda snapshot: _make_output(call, snapshot, args, limit))


def _make_output(
    call: Call, snapshot: Snapshot, args: RefactorImpactInput, limit: int
) -> RefactorImpactOutput:
    call.warn(snapshot.coverage.why_hidden)
    rest = call.session.cursors.resume(args.cursor, _Rest) if args.cursor is not None else None
    rest = rest or _found(snapshot, args.target)
    end = rest.start + limit
    more = max(0, len(rest.references) - end)
    cursor = call.session.cursors.keep(rest._replace(start=end)) if more else None
    if cursor is not None:
        arguments = json.dumps({"target": args.target, "cursor": cursor}, ensure_ascii=False)
        call.next_actions.append(f"refactor_impact {arguments}")
    tests = rest.tests if not rest.start else ()
    return RefactorImpactOutput(
        target=shown(rest.target),
        tiers={
            tier.value: count for tier in Tier if (count := sum(one.tier is tier for one in rest.references))
        },
        in_files=len({one.path for one in rest.references}),
        files=_files(snapshot, rest.references[rest.start : end]),
        tests=list(tests[:_MOST_TESTS]) or None,
        more_tests=max(0, len(tests) - _MOST_TESTS) or None,
        more=more or None,
        next_cursor=cursor,
    )


def _found(snapshot: Snapshot, target: str) -> _Rest:
    path = path_of(snapshot, target)
    if path is not None:
        files = files_of(snapshot, path)
        uses: Sequence[Reference] = uses_of_files(snapshot, files)
        name, knowledge = str(path), Known()
    else:
        definition = snapshot.symbol(target)
        files, uses = [definition.path], references_to(snapshot, definition).items
        name = qualified(snapshot, place_of(definition))
        knowledge = Known({definition.path: (definition.position,)})
    tests = [one.told for one in affected_tests(snapshot, files, knowledge).tests if one.path not in files]
    return _Rest(name, uses, tests, 0)


def _files(snapshot: Snapshot, references: Sequence[Reference]) -> list[ImpactFile]:
    excerpts = Excerpts(snapshot)
    blobs = snapshot.layout.blobs
    by_path: dict[RepoPath, dict[tuple[int, str], Reference]] = {}
    for one in references:
        by_path.setdefault(one.path, {}).setdefault((one.line, f"{one.kind} {one.tier}"), one)
    return [
        ImpactFile(path=shown(path), refs=[_line(snapshot, excerpts, one) for one in lines.values()])
        for path, lines in by_path.items()
        if path in blobs
    ]


def _line(snapshot: Snapshot, excerpts: Excerpts, one: Reference) -> ImpactLine:
    return ImpactLine(
        line=one.line,
        kind=one.kind.value,
        tier=one.tier.value,
        within=short(snapshot, one.around) or None,
        text=excerpts.line(one.path, one.line),
        why=None if one.tier in CERTAIN else _why(snapshot, one),
    )


def _why(snapshot: Snapshot, one: Reference) -> str:
    receiver = f"`{shown(one.receiver)}`: " if one.receiver else ""
    return receiver + why_open(snapshot, use_of(one))
