import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.answers.pages import clamped
from codeplane.answers.semantic_diff import ChangedFile, change_told, rendered
from codeplane.answers.surface_changes import MOST_SURFACES, SurfaceChangeRow, surface_lines, surface_rows
from codeplane.core.errors import CursorGone, RevisionNotFound
from codeplane.core.globs import Globs
from codeplane.graph.diff.repository import FileDiff, State, changed_definitions, counted, diff_of
from codeplane.graph.diff.review import Rank, Reviewed, in_order
from codeplane.graph.diff.revisions import commits_among, state_of
from codeplane.graph.diff.risk import category_of
from codeplane.graph.tests.impact import Known, affected_tests
from codeplane.jail import shown
from codeplane.names import Snapshot
from codeplane.session import Call
from codeplane.session.diff_coverage import sight_of
from codeplane.surfaces.difference.compare import SurfaceChange
from codeplane.surfaces.difference.states import TextsGone, changed_surfaces
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._schema import UNLISTED

MOST = 100
LONGEST_PAGE = 6_000
_ROOM = 5_600  # characters of a page without what the server adds
_MOST_NAMED = 15
_MOST_FILES = 30
_MOST_TESTS = 30
_MOST_LISTED = 5  # in the text
_MANY = 40  # changes, of which fewer lines of code are shown
_MOST_LINES = 12
_FEW_LINES = 4
_UNSAID = re.compile(r" reaches$| \(no definitions\)$")
_CATEGORIES = ("prod", "build", "config", "test", "docs")


class SemanticDiffInput(Input):
    base: Annotated[str, synonyms("from", "since", "old")] = Field(
        default="HEAD", min_length=1, max_length=300, description="Commit, branch, tag, or `epoch:N`."
    )
    target: Annotated[str | None, synonyms("to", "new", "head")] = Field(
        default=None, max_length=300, description="Likewise; default: the working tree."
    )
    paths: Annotated[list[str] | None, synonyms("path", "glob", "globs", "include")] = Field(
        default=None, description="Globs: `src/`, `*.py`; `!tests/` excludes."
    )
    limit: int = Field(
        default=60, description="Most changes on a page, up to 100.", json_schema_extra=UNLISTED
    )
    cursor: str | None = Field(default=None, description="`next_cursor` of the previous answer.")


class _Rest(NamedTuple):
    """What a cursor stands for: the question, the states that answered it, and where the next page begins."""

    args: SemanticDiffInput
    states: tuple[object, object]
    start: int


class SemanticDiffOutput(Output):
    summary: str = Field(description="Counts by kind of change.")
    breaking: list[str] | None = Field(default=None, description="`path: names` of breaking changes.")
    unclear: list[str] | None = Field(
        default=None, description="`path: names` of signature changes that may break users."
    )
    surfaces: list[SurfaceChangeRow] | None = Field(
        default=None, description="Changed endpoints, configuration keys and tables."
    )
    files: list[ChangedFile] = Field(
        description="Structural changes by file, those that may break users first."
    )
    folded: dict[str, int] | None = Field(
        default=None, description="Counts of annotation and docstring changes, which are not listed."
    )
    other_files: list[str] | None = Field(
        default=None, description="`status category path (why)` of the other files that differ."
    )
    tests: list[str] | None = Field(
        default=None,
        description="`confidence match path` of affected tests; `chain:N`: through N imports.",
    )
    tests_confidence: str | None = Field(
        default=None, description="`complete`, or `partial` with the reasons."
    )
    total: int = Field(description="Number of structural changes.")
    more: dict[str, int] | None = Field(default=None, description="What was left out of lists.")
    next_cursor: str | None = Field(default=None, description="Continues the list.")

    def render(self) -> str:
        left_out = (self.more or {}).get("surfaces", 0)
        lines = [self.summary, *surface_lines(self.surfaces or (), left_out)]
        lines += [*rendered(self.files), *self._besides()]
        if self.next_cursor:
            lines.append(f'next: semantic_diff {{"cursor": "{self.next_cursor}"}}')
        return "\n".join(lines)

    def _besides(self) -> list[str]:
        lines = []
        if self.folded:
            text = ", ".join(f"{count} of {what}" for what, count in self.folded.items())
            lines.append(f"not listed: changes {text} alone")
        left_out = self.more or {}
        lines += _list_items("other files", self.other_files, left_out.get("other_files", 0))
        return lines + _list_items("tests affected", self.tests, left_out.get("tests", 0))


def _list_items(name: str, items: Sequence[str] | None, more: int) -> list[str]:
    """How many there are, and the first."""
    words = [_UNSAID.sub("", text.split(" ", 2)[2]) for text in (items or ())[:_MOST_LISTED]]
    total = len(items or ()) + more
    return [f"{name}: {total} ({', '.join(words)}{', …' if total > len(words) else ''})"] if words else []


@tool(Effect.READ, "analysis", standard=True, timeout_sec=120)
def semantic_diff(call: Call, args: SemanticDiffInput) -> SemanticDiffOutput:
    """Shows which definitions were added, removed, renamed or changed between two states.

    States are commits, epochs or the working tree. What may break users comes first, with who refers to
    it; changes of annotations, docstrings and formatting are only counted.

    Use when:
    - you review a change or an upgrade
    Examples:
    - What is not committed yet: {}
    - Between two releases: {"base": "v1.0", "target": "v2.0", "paths": ["src"]}
    """
    rest = call.session.cursors.resume(args.cursor, _Rest) if args.cursor is not None else None
    if rest is not None:
        own_limit = {"limit": args.limit} if "limit" in args.model_fields_set else {}
        args = rest.args.model_copy(update=own_limit)
    args = args.model_copy(update={"limit": clamped(call, "limit", args.limit, MOST)})
    commits = commits_among([args.base, args.target])
    if commits and call.repo.checkout.repository.head().commit is None:
        raise RevisionNotFound(
            "This repository has no commits to compare with yet.",
            hints=['Compare with an earlier state: {"base": "epoch:N"}; `meta.epoch` has the numbers.'],
        )
    looks = not {args.base, args.target} <= set(commits)
    return call.ask_with(commits, lambda snapshots: _make_output(call, *snapshots, args, rest), looks=looks)


def _make_output(
    call: Call, now: Snapshot, commits: Mapping[str, Snapshot], args: SemanticDiffInput, rest: _Rest | None
) -> SemanticDiffOutput:
    old, _ = state_of(now, commits, args.base)
    new, snapshot = state_of(now, commits, args.target)
    states = (old.key, new.key)
    if rest is not None and rest.states != states:
        raise CursorGone(
            "The compared states have changed since this cursor was issued.",
            hints=["Repeat the call without a cursor."],
        )
    offset = rest.start if rest is not None else 0
    sight = sight_of(call, now, commits, args.base, args.target)
    files = diff_of(old, new, args.paths or (), sight)
    if args.paths and not files and not any(map(Globs(args.paths).holds, (*old.blobs, *new.blobs))):
        call.warn("No file in either state matches `paths`.")
    units, counts = in_order(snapshot, files)
    answer = SemanticDiffOutput(
        summary=_render_summary(files, is_whole=not sight.unread), files=[], total=len(units)
    )
    if not offset:
        # What is true of all pages is on the first.
        changes = _surfaces(call, now, (old, new), args.paths or ()) if files else []
        whole = {"folded": dict(counts) or None, **_whole(snapshot, files, units, changes)}
        answer = answer.model_copy(update=whole)
    most = _FEW_LINES if len(units) > _MANY else _MOST_LINES
    room = _ROOM - len(answer.render())
    page, end = _page(snapshot, units[offset : offset + args.limit], room, most)
    end += offset
    is_more = len(units) > end
    cursor = call.session.cursors.keep(_Rest(args, states, end)) if is_more else None
    if snapshot is not None:
        call.instead_of_files(snapshot, (unit.file.path for unit in units[offset:end]))
    return answer.model_copy(update={"files": page, "next_cursor": cursor})


def _surfaces(
    call: Call, now: Snapshot, states: tuple[State, State], paths: Sequence[str]
) -> list[SurfaceChange]:
    """The changed surfaces of files that count; a warning where a state can't be read any more."""
    globs = Globs(paths)
    try:
        return [one for one in changed_surfaces(now, *states) if globs.holds(one.path)]
    except TextsGone as error:
        call.warn(
            f"Endpoints, keys and tables are not compared: the text of {len(error.paths)} files of "
            f"{error.label} is not on record, such as {shown(error.paths[0])}."
        )
        return []


def _page(
    snapshot: Snapshot | None, units: Sequence[Reviewed], room: int, most: int
) -> tuple[list[ChangedFile], int]:
    """The changes that there is room for, one at least, and how many these are."""
    files: dict[tuple[str, str], ChangedFile] = {}
    for number, unit in enumerate(units):
        key = (unit.rank.name, unit.file.path)
        file = files.get(key) or _file(snapshot, unit)
        change = change_told(snapshot, unit, most)
        room -= change.size + (0 if key in files else len(file.heading()) + 30)
        if change.word and not (file.changes and file.changes[-1].word == change.word):
            room -= len(change.word) + 5
        if room < 0 and number:
            return list(files.values()), number
        files[key] = file
        file.changes.append(change)
    return list(files.values()), len(units)


def _file(snapshot: Snapshot | None, unit: Reviewed) -> ChangedFile:
    file = unit.file
    return ChangedFile(
        rank=unit.rank.name.lower(),
        path=shown(file.path),
        status=file.status,
        category=category_of(snapshot, file.path),
        old_path=shown(file.old_path) if file.old_path else None,
        changes=[],
    )


def _whole(
    snapshot: Snapshot | None,
    files: Sequence[FileDiff],
    units: Sequence[Reviewed],
    changes: Sequence[SurfaceChange],
) -> dict[str, object]:
    breaking, unclear = (_named(units, rank) for rank in (Rank.BREAKING, Rank.AMBIGUOUS))
    others = [file for file in files if not file.changes]
    others.sort(key=lambda file: _CATEGORIES.index(category_of(snapshot, file.path)))
    left_out = {
        "breaking": len(breaking) - _MOST_NAMED,
        "unclear": len(unclear) - _MOST_NAMED,
        "other_files": len(others) - _MOST_FILES,
        "surfaces": len(changes) - MOST_SURFACES,
    }
    lines: dict[str, Any] = {
        "surfaces": surface_rows(changes) or None,
        "breaking": _by_file(breaking[:_MOST_NAMED]) or None,
        "unclear": _by_file(unclear[:_MOST_NAMED]) or None,
        "other_files": [_other(snapshot, file) for file in others[:_MOST_FILES]] or None,
    }
    if snapshot is not None and files:
        there = [file.path for file in files if file.status != "deleted"]
        impact = affected_tests(snapshot, there, Known(changed_definitions(files)))
        lines["tests"] = [one.told for one in impact.tests[:_MOST_TESTS]] or None
        lines["tests_confidence"] = impact.told
        left_out["tests"] = len(impact.tests) - _MOST_TESTS
    return {**lines, "more": {name: count for name, count in left_out.items() if count > 0} or None}


def _render_summary(files: Sequence[FileDiff], *, is_whole: bool) -> str:
    counts = [f"{count} {kind.value.replace('_', ' ')}" for kind, count in counted(files).items()]
    others = sum(not file.changes for file in files)
    if others:
        counts.append(f"{others} files without structural change")
    nothing = "nothing has changed" if is_whole else "nothing has changed in the files that can be read"
    return ", ".join(counts) or nothing


def _named(units: Sequence[Reviewed], rank: Rank) -> list[tuple[str, str]]:
    return [(shown(unit.file.path), shown(unit.change.name)) for unit in units if unit.rank is rank]


def _by_file(names: Sequence[tuple[str, str]]) -> list[str]:
    by_file: dict[str, list[str]] = {}
    for path, name in names:
        by_file.setdefault(path, []).append(name)
    return [f"{path}: {', '.join(dict.fromkeys(names))}" for path, names in by_file.items()]


def _other(snapshot: Snapshot | None, file: FileDiff) -> str:
    came = f" from {shown(file.old_path)}" if file.old_path else ""
    note = f" ({file.note})" if file.note else ""
    return f"{file.status} {category_of(snapshot, file.path)} {shown(file.path)}{came}{note}"
