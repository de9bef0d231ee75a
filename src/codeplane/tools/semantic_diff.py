import re
import zlib
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from codeplane.core.errors import CursorGone, RevisionNotFound
from codeplane.core.paths import RepoPath
from codeplane.core.proof import Tier
from codeplane.graph.diff import FileDiff, changed_definitions, counted, diff_of
from codeplane.graph.impact import Known, affected_tests
from codeplane.graph.risk import Blast, blast_of, category_of, risk_of
from codeplane.graph.states import commits_among, state_of
from codeplane.graph.structure import Change, ChangeKind, flattened
from codeplane.index import Snapshot
from codeplane.jail import shown
from codeplane.session import Call
from codeplane.tools._limits import clamped
from codeplane.tools._registry import Effect, Input, Output, synonyms, tool

MOST = 100
_MOST_NAMED = 15
_MOST_FILES = 30
_MOST_TESTS = 30
_MOST_NESTED = 30
_DEEPEST = 3
_CURSOR = re.compile(r"d([0-9a-f]{8})\.(\d{1,9})\Z")


class SemanticDiffInput(Input):
    base: Annotated[str, synonyms("from", "since", "old")] = Field(
        default="HEAD", min_length=1, max_length=300, description="Commit, branch, tag, or `epoch:N`."
    )
    target: Annotated[str | None, synonyms("to", "new", "head")] = Field(
        default=None, max_length=300, description="The same; without it, the working tree."
    )
    paths: list[str] | None = Field(default=None, description="Only files and directories below these.")
    limit: int = Field(default=20, description="Most changes in an answer, up to 100.")
    cursor: str | None = Field(default=None, description="`next_cursor` of the answer before.")


class BlastRadius(Output):
    references: dict[str, int] = Field(
        description="References by tier; of what is gone, what still names it."
    )
    files: int = Field(description="Files that refer to it.")
    tests: list[str] | None = Field(default=None, description="Test files among these.")


class StructuralChange(Output):
    change: str = Field(description="added, removed, renamed, signature_changed or body_changed.")
    name: str = Field(description="Name with the definitions around it.")
    kind: str = Field(description="Kind of definition.")
    lines: str = Field(description="`first-last` in the state that has it.")
    breaking: bool | Literal["unknown"] | None = Field(
        default=None, description="Whether users may have to change; `unknown`: the header does not tell."
    )
    risk: str | None = Field(default=None, description="Behaviour: low, medium, high or unknown.")
    tags: list[str] | None = Field(default=None, description="What sort of change it is.")
    lines_changed: int | None = Field(default=None, description="Lines of its own that differ.")
    old_name: str | None = Field(default=None, description="Name before.")
    old_signature: str | None = Field(default=None, description="Header before.")
    signature: str | None = Field(default=None, description="Header now.")
    preview: list[str] | None = Field(default=None, description="First lines that differ.")
    impact: BlastRadius | None = Field(default=None, description="Who is concerned.")
    nested: list["StructuralChange"] | None = Field(default=None, description="Changes of its members.")
    more: int | None = Field(default=None, description="Changes of members that are left out.")


class ChangedFile(Output):
    path: str = Field(description="File.")
    status: str = Field(description="added, modified, deleted or renamed.")
    category: str = Field(description="prod, test, build, config or docs.")
    old_path: str | None = Field(default=None, description="Path before.")
    changes: list[StructuralChange] = Field(description="Changes in order of position.")


class SemanticDiffOutput(Output):
    summary: str = Field(description="Counts by kind of change.")
    breaking: list[str] | None = Field(default=None, description="`path: names` of breaking changes.")
    unclear: list[str] | None = Field(
        default=None, description="The same of headers of which it is unknown whether they break users."
    )
    files: list[ChangedFile] = Field(description="Files with structural changes.")
    other_files: list[str] | None = Field(
        default=None, description="`status category path (why)` of the other files that differ."
    )
    tests: list[str] | None = Field(
        default=None,
        description="`confidence match path` of tests that lead to what changed; `chain:N`: over N imports.",
    )
    tests_confidence: str | None = Field(default=None, description="complete, or partial: with the reasons.")
    total: int = Field(description="Structural changes in all.")
    more: dict[str, int] | None = Field(default=None, description="What was left out of lists.")
    next_cursor: str | None = Field(default=None, description="Where the next answer goes on.")


@tool(Effect.READ, "analysis", standard=True, timeout_sec=120)
def semantic_diff(call: Call, args: SemanticDiffInput) -> SemanticDiffOutput:
    """Tells which definitions were added, removed, renamed or changed between two states.

    States are commits, epochs or the working tree. Each change has its severity, who refers to it by tier,
    and the tests that are concerned.

    Use when:
    - you review a change, or want to know what an edit or an upgrade broke
    Not for:
    - the changed text line by line
    Examples:
    - What is not committed yet: {}
    - Between two releases: {"base": "v1.0", "target": "v2.0", "paths": ["src"]}
    """
    limit = clamped(call, "limit", args.limit, MOST)
    commits = commits_among([args.base, args.target])
    if commits and call.repo.checkout.repository.head().commit is None:
        raise RevisionNotFound(
            "This repository has no commit yet that anything could be compared with.",
            hints=['Compare with what was there before: {"base": "epoch:N"}; `meta.epoch` has the numbers.'],
        )
    looks = not {args.base, args.target} <= set(commits)
    return call.ask_with(commits, lambda snapshots: _diff(call, *snapshots, args, limit), looks=looks)


def _diff(
    call: Call, now: Snapshot, commits: Mapping[str, Snapshot], args: SemanticDiffInput, limit: int
) -> SemanticDiffOutput:
    old, _ = state_of(now, commits, args.base)
    new, snapshot = state_of(now, commits, args.target)
    mark = f"{zlib.crc32(repr((old.key, new.key)).encode()):08x}"
    offset = _offset(args.cursor, mark)
    files = diff_of(old, new, args.paths or ())
    units = [(file, change) for file in files for change in file.changes]
    end = offset + limit
    answer = SemanticDiffOutput(
        summary=_summary(files),
        files=_told(snapshot, units[offset:end]),
        total=len(units),
        next_cursor=f"d{mark}.{end}" if len(units) > end else None,
    )
    if snapshot is not None:
        call.instead_of_files(snapshot, (file.path for file, _ in units[offset:end]))
    # What is true of all pages is on the first.
    return answer if offset else answer.model_copy(update=_whole(snapshot, files))


def _whole(snapshot: Snapshot | None, files: Sequence[FileDiff]) -> dict[str, object]:
    told_of = [file for file in files if file.changes and category_of(snapshot, file.path) != "test"]
    breaking, unclear = (_named(told_of, verdict) for verdict in (True, None))
    others = [file for file in files if not file.changes]
    left_out = {
        "breaking": len(breaking) - _MOST_NAMED,
        "unclear": len(unclear) - _MOST_NAMED,
        "other_files": len(others) - _MOST_FILES,
    }
    told: dict[str, object] = {
        "breaking": _by_file(breaking[:_MOST_NAMED]) or None,
        "unclear": _by_file(unclear[:_MOST_NAMED]) or None,
        "other_files": [_other(snapshot, file) for file in others[:_MOST_FILES]] or None,
    }
    if snapshot is not None and files:
        there = [file.path for file in files if file.status != "deleted"]
        impact = affected_tests(snapshot, there, Known(changed_definitions(files)))
        told["tests"] = [one.told for one in impact.tests[:_MOST_TESTS]] or None
        told["tests_confidence"] = impact.told
        left_out["tests"] = len(impact.tests) - _MOST_TESTS
    return {**told, "more": {name: count for name, count in left_out.items() if count > 0} or None}


def _offset(cursor: str | None, mark: str) -> int:
    if cursor is None:
        return 0
    found = _CURSOR.match(cursor)
    if found is None or found[1] != mark:
        raise CursorGone(
            "The cursor is not of this state of the repository.", hints=["Ask anew without a cursor."]
        )
    return int(found[2])


def _summary(files: Sequence[FileDiff]) -> str:
    counts = [f"{count} {kind.value.replace('_', ' ')}" for kind, count in counted(files).items()]
    others = sum(not file.changes for file in files)
    if others:
        counts.append(f"{others} files without structural change")
    return ", ".join(counts) or "nothing has changed"


def _named(files: Sequence[FileDiff], verdict: bool | None) -> list[tuple[str, str]]:
    return [
        (shown(file.path), shown(one.name))
        for file in files
        for one in flattened(file.changes)
        if one.breaking is verdict
    ]


def _by_file(names: Sequence[tuple[str, str]]) -> list[str]:
    by_file: dict[str, list[str]] = {}
    for path, name in names:
        by_file.setdefault(path, []).append(name)
    return [f"{path}: {', '.join(dict.fromkeys(names))}" for path, names in by_file.items()]


def _told(snapshot: Snapshot | None, page: Sequence[tuple[FileDiff, Change]]) -> list[ChangedFile]:
    files: dict[RepoPath, ChangedFile] = {}
    for file, change in page:
        if file.path not in files:
            files[file.path] = ChangedFile(
                path=shown(file.path),
                status=file.status,
                category=category_of(snapshot, file.path),
                old_path=shown(file.old_path) if file.old_path else None,
                changes=[],
            )
        files[file.path].changes.append(_change(snapshot, file, change))
    return list(files.values())


def _change(snapshot: Snapshot | None, file: FileDiff, one: Change, depth: int = 0) -> StructuralChange:
    # Members of members of members are told in a row.
    inside = one.nested if depth < _DEEPEST else tuple(flattened(one.nested))
    if depth > _DEEPEST:
        inside = ()
    span = one.definition.span
    blast = blast_of(snapshot, file.path, one) if snapshot is not None and one.tags else None
    signature = one.definition.signature
    return StructuralChange(
        change=one.change.value,
        name=shown(one.name),
        kind=one.definition.kind,
        lines=f"{span.start_line}-{span.end_line}",
        breaking=_verdict(one) if category_of(snapshot, file.path) != "test" else None,
        risk=risk_of(one, blast) if one.tags else None,
        tags=list(one.tags) or None,
        lines_changed=one.lines_changed,
        old_name=shown(one.old_name) or None,
        old_signature=shown(one.old_signature) or None,
        signature=shown(signature) or None if one.old_signature or one.change == "added" else None,
        preview=list(one.preview) or None,
        impact=_radius(blast) if blast is not None else None,
        nested=[_change(snapshot, file, inner, depth + 1) for inner in inside[:_MOST_NESTED]] or None,
        more=max(0, len(inside) - _MOST_NESTED) or None,
    )


def _verdict(one: Change) -> bool | Literal["unknown"] | None:
    if one.breaking is None:
        return "unknown"
    is_header = one.change is ChangeKind.SIGNATURE
    return one.breaking or (False if is_header else None)


def _radius(blast: Blast) -> BlastRadius | None:
    if not blast.tiers:
        return None
    return BlastRadius(
        references={tier.value: blast.tiers[tier] for tier in Tier if tier in blast.tiers},
        files=len(blast.files),
        tests=[shown(path) for path in blast.tests[:5]] or None,
    )


def _other(snapshot: Snapshot | None, file: FileDiff) -> str:
    came = f" from {shown(file.old_path)}" if file.old_path else ""
    note = f" ({file.note})" if file.note else ""
    return f"{file.status} {category_of(snapshot, file.path)} {shown(file.path)}{came}{note}"
