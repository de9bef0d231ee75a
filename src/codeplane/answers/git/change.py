"""What an operation of git has changed, as every git tool that writes tells it."""

from collections import Counter
from typing import Any

from pydantic import Field

from codeplane.answers.change import affected, symbols_of
from codeplane.answers.edit_ranges import EditRange, Mutation, edits_of, mutation_of
from codeplane.answers.git.text import delta_lines
from codeplane.answers.output import Output
from codeplane.core.edits import FileChange
from codeplane.git.repo.outcome import Conflict, Outcome, Side, short_oid
from codeplane.git.staging.conflicts import ConflictDetails, kind_of
from codeplane.jail import shown
from codeplane.mutation.diff_preview import line_ending
from codeplane.session.operation.git import Changed

_MOST_FILES = 20
_MOST_DIRECTORIES = 20
_LEVELS = 2
_MOST_SYMBOLS = 30
_LEAST = 3
_MOST_TESTS = 3
_MOST_CONFLICTS = 40
_MOST_RANGES = 20  # of all files together


class HunkOutput(Output):
    lines: str = Field(description="`first-last` in the file, with the markers.")
    ours: str = Field(description="This side.")
    theirs: str = Field(description="The other side.")
    base: str | None = Field(default=None, description="The common ancestor, if the file shows it.")


class ConflictOutput(Output):
    path: str = Field(description="File.")
    kind: str | None = Field(default=None, description="both_modified, deleted_by_us, etc.")
    ancestor_oid: str | None = Field(default=None, description="Blob of the common ancestor.")
    ours_oid: str | None = Field(default=None, description="Blob of this side.")
    theirs_oid: str | None = Field(default=None, description="Blob of the other side.")


class StopOutput(ConflictOutput):
    hunks: list[HunkOutput] | None = Field(default=None, description="Conflicts in the file.")
    more_hunks: int | None = Field(default=None, description="Hunks beyond those.")


class GitFile(Output):
    path: str = Field(description="File.")
    action: str = Field(description="created, updated or deleted.")
    old_hash: str | None = Field(default=None, description="sha256 before.")
    file_sha256: str | None = Field(default=None, description="sha256 now.")
    line_ending: str | None = Field(default=None, description="LF, CRLF or mixed, now.")
    edits: list[EditRange] | None = Field(default=None, description="Lines that were replaced.")
    more_edits: int | None = Field(default=None, description="Replaced lines beyond those.")
    symbols: list[str] | None = Field(default=None, description="`change kind name :lines` of definitions.")


class GitDelta(Output):
    """Base of the answers of git tools that write; a tool adds its own fields."""

    operation: str = Field(description="Id in the ledger.")
    summary: str = Field(description="What was done, in one line.")
    branch: str | None = Field(default=None, description="Branch now; none when detached.")
    head: str | None = Field(default=None, description="Commit of HEAD now.")
    branch_before: str | None = Field(default=None, description="Previous branch, if it changed.")
    head_before: str | None = Field(default=None, description="Previous commit, if it changed.")
    saved: str | None = Field(
        default=None, description="Ref that holds what was discarded; `git_stash` applies it."
    )
    files_changed: int | None = Field(default=None, description="Files that changed in the tree.")
    insertions: int | None = Field(default=None, description="Lines added.")
    deletions: int | None = Field(default=None, description="Lines removed.")
    files: list[GitFile] | None = Field(default=None, description="File by file.")
    directories: list[str] | None = Field(
        default=None, description="`directory: counts`, if there are too many files."
    )
    more_directories: int | None = Field(default=None, description="Directories beyond those.")
    conflicts: list[StopOutput] | None = Field(default=None, description="Where it stopped.")
    more_conflicts: int | None = Field(default=None, description="Conflicts beyond those.")
    status: str | None = Field(default=None, description="The tree now: clean, or counts.")
    tests: list[str] | None = Field(default=None, description="`confidence match path` of a few tests.")
    more_tests: int | None = Field(default=None, description="Tests beyond those.")
    tests_confidence: str | None = Field(
        default=None, description="complete, or partial; `inspect_affected_tests` has the reasons."
    )

    repo_fingerprint: str | None = Field(
        default=None, description="Fingerprint of all files as they are now."
    )
    mutation: Mutation | None = Field(default=None, description="Identifies this change.")

    def render(self) -> str:
        return "\n".join(delta_lines(self))


def delta_fields(changed: Changed[Outcome]) -> dict[str, Any]:
    """The fields of `GitDelta`, for its class or one that adds to it."""
    outcome, before, after = changed.outcome, changed.before, changed.after
    files = changed.changes
    share = max(_LEAST, _MOST_SYMBOLS // max(1, len(files)))
    return {
        "operation": changed.operation_id,
        "summary": outcome.summary,
        "branch": after.branch,
        "head": short_oid(after.commit) if after.commit else None,
        "branch_before": before.branch if before.branch != after.branch else None,
        "head_before": short_oid(before.commit) if before.commit and before.commit != after.commit else None,
        "saved": outcome.saved,
        "files_changed": len(files) or None,
        "insertions": outcome.insertions or None,
        "deletions": outcome.deletions or None,
        **(_by_directory(files) if len(files) > _MOST_FILES else {}),
        "files": [_file(changed, one, share) for one in files if len(files) <= _MOST_FILES] or None,
        "conflicts": [stop_of(one) for one in changed.conflicts[:_MOST_CONFLICTS]] or None,
        "more_conflicts": max(0, len(changed.conflicts) - _MOST_CONFLICTS) or None,
        "status": changed.status,
        # Where it has stopped, there is nothing to test yet.
        **(affected(changed.effects, _MOST_TESTS) if not changed.conflicts else {}),
        "repo_fingerprint": changed.repo_fingerprint,
        "mutation": mutation_of(
            changed.fingerprint, files, changed.effects, (outcome.insertions, outcome.deletions)
        ),
    }


def conflict(one: Conflict) -> ConflictOutput:
    return ConflictOutput(**_collect_sides(one))


def stop_of(one: ConflictDetails) -> StopOutput:
    hunks = [
        HunkOutput(
            lines=f"{hunk.start_line}-{hunk.end_line}", ours=hunk.ours, theirs=hunk.theirs, base=hunk.base
        )
        for hunk in one.hunks
    ]
    return StopOutput(**_collect_sides(one.conflict), hunks=hunks or None, more_hunks=one.more_hunks or None)


def _collect_sides(one: Conflict) -> dict[str, Any]:
    return {
        "path": shown(one.path),
        "kind": kind_of(one),
        "ancestor_oid": _oid(one.ancestor),
        "ours_oid": _oid(one.ours),
        "theirs_oid": _oid(one.theirs),
    }


def counted(changes: tuple[FileChange, ...]) -> str:
    """`2 created, 1 deleted` of the files that changed."""
    counts = Counter(map(_render_action, changes))
    return ", ".join(f"{counts[action]} {action}" for action in sorted(counts))


def _by_directory(changes: tuple[FileChange, ...]) -> dict[str, Any]:
    """The directories with the most changes, two levels deep."""
    by_directory: dict[str, list[FileChange]] = {}
    for one in changes:
        by_directory.setdefault("/".join(one.path.split("/")[:-1][:_LEVELS]) or ".", []).append(one)
    most = sorted(by_directory.items(), key=lambda item: (-len(item[1]), item[0]))
    return {
        "directories": [
            f"{shown(path)}: {counted(tuple(inside))}" for path, inside in most[:_MOST_DIRECTORIES]
        ],
        "more_directories": max(0, len(most) - _MOST_DIRECTORIES) or None,
    }


def _file(changed: Changed[Outcome], one: FileChange, most: int) -> GitFile:
    symbols = symbols_of(changed.effects, one.path, most)
    old, new = changed.contents.get(one.path, (None, None))
    edits = edits_of(changed.effects, one.path, old, new)
    ranges = max(1, _MOST_RANGES // len(changed.changes))
    return GitFile(
        path=shown(one.path),
        action=_render_action(one),
        old_hash=one.before,
        file_sha256=one.after,
        line_ending=line_ending(new) if new is not None else None,
        edits=edits[:ranges] or None,
        more_edits=max(0, len(edits) - ranges) or None,
        symbols=symbols or None,
    )


def _render_action(one: FileChange) -> str:
    return "created" if one.before is None else "deleted" if one.after is None else "updated"


def _oid(side: Side | None) -> str | None:
    return side.oid if side is not None else None
