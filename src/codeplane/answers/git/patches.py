"""Patches as the git tools show them: page by page, each file with what fits."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from pydantic import Field

from codeplane.answers.git.text import counts
from codeplane.answers.output import Output
from codeplane.git.history.changes import Change
from codeplane.git.history.patches import Patch, split_hunk
from codeplane.jail import shown

_MOST_CHARACTERS: Final = 20_000
_MOST_FILES: Final = 100
_MOST_LINES: Final = 200
MOST_COUNTED: Final = 500
"""Lines are counted in changes of so many files; beyond that only the files are."""

STATUSES: Final = {
    "A": "added",
    "M": "modified",
    "D": "deleted",
    "T": "type_changed",
    "R": "renamed",
    "U": "conflict",
}


class PatchOutput(Output):
    path: str = Field(description="File.")
    status: str = Field(description="added, modified, deleted, renamed, type_changed or conflict.")
    old_path: str | None = Field(default=None, description="Path before.")
    mode: str | None = Field(default=None, description="`old → new`, if it changed.")
    binary: bool | None = Field(default=None, description="Whether it is binary.")
    insertions: int | None = Field(default=None, description="Lines added.")
    deletions: int | None = Field(default=None, description="Lines removed.")
    note: str | None = Field(default=None, description="Why no lines are shown.")
    hunks: str | None = Field(default=None, description="Hunks, as in a unified diff.")

    @property
    def is_bare(self) -> bool:
        """Whether only the file and its counts are there."""
        return not (self.hunks or self.binary or self.note)

    def lines(self) -> list[str]:
        """The file as `git diff` prints it; without hunks, as `git diff --stat` counts it."""
        letter = next(one for one, name in STATUSES.items() if name == self.status)
        old = self.old_path or self.path
        if self.is_bare:
            name = f"{old} -> {self.path}" if self.old_path else self.path
            mode = f" mode {self.mode}" if self.mode else ""
            return [f"{letter} {name}{mode}{counts(self.insertions, self.deletions)}"]
        lines = [f"rename from {old}", f"rename to {self.path}"] if self.old_path else []
        lines += [f"mode {self.mode}"] if self.mode else []
        lines += ["--- /dev/null" if letter == "A" else f"--- a/{old}"]
        lines += ["+++ /dev/null" if letter == "D" else f"+++ b/{self.path}"]
        lines += [f"Binary file {self.path} differs"] if self.binary and not self.note else []
        lines += [self.note] if self.note else []
        return [*lines, *(self.hunks or "").removesuffix("\n").split("\n")] if self.hunks else lines


class DiffStats(Output):
    files_changed: int = Field(description="Files.")
    insertions: int | None = Field(default=None, description="Lines added.")
    deletions: int | None = Field(default=None, description="Lines removed.")


class Rest(NamedTuple):
    """What of a comparison has not been shown: from a piece of the first change on."""

    changes: tuple[Change, ...]
    piece: int
    with_hunks: bool
    code_only: bool = False


def page(rest: Rest, patch: Callable[[Change], Patch]) -> tuple[list[PatchOutput], Rest | None]:
    """The patches that fit into one answer, and those that are left."""
    files: list[PatchOutput] = []
    room, piece = _MOST_CHARACTERS, rest.piece
    for at, change in enumerate(rest.changes):
        if len(files) >= _MOST_FILES or room <= 0:
            return files, rest._replace(changes=rest.changes[at:], piece=piece)
        file_patch = patch(change)
        if file_patch.is_empty:
            continue
        parts = (
            [part for hunk in file_patch.hunks for part in split_hunk(hunk, _MOST_LINES)]
            if rest.with_hunks
            else []
        )
        shown_now, room = _fitting(parts[piece:], room, is_first=not files)
        files.append(_file(file_patch, "".join(shown_now), is_begun=piece > 0))
        piece += len(shown_now)
        if piece < len(parts):
            return files, rest._replace(changes=rest.changes[at:], piece=piece)
        piece = 0
    return files, None


def patch_lines(files: Sequence[PatchOutput]) -> list[str]:
    """A diff as git prints it."""
    return [line for one in files for line in one.lines()]


def is_stat(files: Sequence[PatchOutput]) -> bool:
    """Whether hunks were not asked for, or none of the files has any."""
    return all(one.hunks is None for one in files) and any(one.is_bare for one in files)


def total_lines(stats: DiffStats | None) -> list[str]:
    """The counts of several files."""
    if stats is None or stats.files_changed == 1:
        return []
    return [f"{stats.files_changed} files changed{counts(stats.insertions, stats.deletions)}"]


def stats(patches: Sequence[Patch]) -> DiffStats:
    there = [one for one in patches if not one.is_empty]
    return DiffStats(
        files_changed=len(there),
        insertions=sum(one.insertions for one in there),
        deletions=sum(one.deletions for one in there),
    )


def _fitting(parts: Sequence[str], room: int, *, is_first: bool) -> tuple[list[str], int]:
    """The parts that there is room for; an answer has at least one."""
    fitting: list[str] = []
    for part in parts:
        if len(part) > room and (fitting or not is_first):
            return fitting, 0
        fitting.append(part)
        room -= len(part)
    return fitting, room


def _file(made: Patch, hunks: str, *, is_begun: bool) -> PatchOutput:
    change = made.change
    return PatchOutput(
        path=shown(change.path),
        status=STATUSES[change.kind],
        old_path=shown(change.old_path) if change.old_path is not None else None,
        mode=made.mode,
        binary=made.is_binary or None,
        insertions=(made.insertions or None) if not is_begun else None,
        deletions=(made.deletions or None) if not is_begun else None,
        note=made.note,
        hunks=hunks or None,
    )
