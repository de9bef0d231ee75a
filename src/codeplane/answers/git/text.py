"""The answers of git tools as text, in the words of git itself."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from codeplane.answers.pages import more

if TYPE_CHECKING:
    from codeplane.answers.git.change import ConflictOutput, GitDelta, StopOutput

_LETTERS: Final = {"created": "A", "updated": "M", "deleted": "D"}
# What `git status --short` has for each kind of conflict.
_CODES: Final = {
    "both_modified": "UU",
    "both_added": "AA",
    "deleted_by_them": "UD",
    "deleted_by_us": "DU",
    "added_by_us": "AU",
    "added_by_them": "UA",
    "both_deleted": "DD",
}
_REMARKS: Final = re.compile(r"( \d+ tests)?( reaches)?$")  # behind the path of a test
_MOST_TESTS: Final = 5
CLEAN: Final = "clean"


def delta_lines(delta: "GitDelta", headline: str | None = None) -> list[str]:
    """What an operation did: a headline, a line for each file, conflicts, what is left, and its undo."""
    conflict_paths = {one.path for one in delta.conflicts or ()}
    files = [
        f"{_LETTERS[one.action]} {one.path}" for one in delta.files or () if one.path not in conflict_paths
    ]
    lines = [headline or f"{delta.summary}{counts(delta.insertions, delta.deletions)}", *files]
    lines += delta.directories or ()
    if delta.more_directories:
        lines.append(f"… {delta.more_directories} more directories")
    for one in delta.conflicts or ():
        lines += stop_lines(one)
    if delta.more_conflicts:
        lines.append(f"… {delta.more_conflicts} more conflicts")
    if delta.status not in (None, CLEAN):
        lines.append(f"status: {delta.status}")
    lines += _render_tests(delta)
    if delta.saved and delta.conflicts:  # otherwise the call that brings it back is offered
        lines.append(f"saved: {delta.saved}")
    if delta.head_before or delta.branch_before or delta.saved:
        lines.append(f"undo: {delta.operation}")
    return lines


def counts(insertions: int | None, deletions: int | None) -> str:
    """` (+3 -1)`, or nothing."""
    parts = [f"+{insertions}"] if insertions else []
    parts += [f"-{deletions}"] if deletions else []
    return f" ({' '.join(parts)})" if parts else ""


def status_lines(
    staged: Iterable[str], modified: Iterable[str], untracked: Iterable[str], torn: "Sequence[ConflictOutput]"
) -> list[str]:
    """The lines of `git status --short`: what is staged, then what is not, then the path."""
    codes: dict[str, list[str]] = {}
    for place, lines in enumerate((staged, modified)):
        for line in lines:
            codes.setdefault(line[2:], [" ", " "])[place] = line[0]
    code_by_path: Mapping[str, str] = {path: "".join(pair) for path, pair in codes.items()}
    code_by_path = {**code_by_path, **{one.path: _CODES.get(one.kind or "", "UU") for one in torn}}
    return [f"{code} {path}" for path, code in code_by_path.items()] + [f"?? {path}" for path in untracked]


def stop_lines(one: "StopOutput") -> list[str]:
    """A conflict with its hunks as the file shows them."""
    lines = [f"CONFLICT {one.kind or 'unmerged'} {one.path}"]
    for hunk in one.hunks or ():
        base = ["||||||| base", *hunk.base.splitlines()] if hunk.base is not None else []
        lines += [f"@ {hunk.lines}", "<<<<<<< ours", *hunk.ours.splitlines(), *base]
        lines += ["=======", *hunk.theirs.splitlines(), ">>>>>>> theirs"]
    return lines + more("hunks", one.more_hunks)


def _render_tests(delta: "GitDelta") -> list[str]:
    tests = [_REMARKS.sub("", line.split(" ", 2)[-1]) for line in delta.tests or ()]
    if not tests:
        return []
    count = len(tests) + (delta.more_tests or 0)
    return [
        f"tests affected: {count} ({', '.join(tests[:_MOST_TESTS])}{', …' if count > len(tests) else ''})"
    ]
