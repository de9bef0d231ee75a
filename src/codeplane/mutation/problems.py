"""What is against a set of edits, collected so that one answer names every path."""

import errno
from dataclasses import dataclass, field

from codeplane.core.errors import EditConflict, EditError, EditFailed, EditRefused, EditsOverlap
from codeplane.core.paths import Digest, RepoPath
from codeplane.jail import shown

_ANEW = "Read it again (read_source) and resend the edit."
_MOST_NAMED = 5
_HINTS = {
    errno.ENOSPC: "Free some disk space and send the edit again.",
    errno.EDQUOT: "Free some of your quota and send the edit again.",
    errno.EFBIG: "Raise the file size limit (ulimit -f) and send the edit again.",
    errno.EACCES: "Check the owner and the permissions of the directory.",
    errno.EPERM: "Check the owner, the permissions and the attributes of the directory.",
    errno.EROFS: "The file system is mounted read-only.",
}


@dataclass
class Problems:
    """The worst kind is raised, with all paths of that kind in its details."""

    refused: list[dict[str, object]] = field(default_factory=list)
    overlaps: list[dict[str, object]] = field(default_factory=list)
    conflicts: list[dict[str, object]] = field(default_factory=list)
    _hints: dict[str, None] = field(default_factory=dict)

    def refuse(self, path: RepoPath, reason: str, *hints: str) -> None:
        self.refused.append({"path": shown(path), "reason": reason})
        self._hints.update(dict.fromkeys(hints))

    def overlap(self, path: RepoPath, reason: str) -> None:
        self.overlaps.append({"path": shown(path), "reason": reason})

    def conflict(self, path: RepoPath, expected: Digest | None, found: Digest | None, reason: str) -> None:
        self.conflicts.append({"path": shown(path), "reason": reason, "expected": expected, "found": found})

    def raise_worst(self) -> None:
        kinds: list[tuple[type[EditError], list[dict[str, object]]]] = [
            (EditRefused, self.refused),
            (EditsOverlap, self.overlaps),
            (EditConflict, self.conflicts),
        ]
        for kind, problems in kinds:
            if problems:
                hints = [*self._hints, *([_ANEW] if kind is EditConflict else [])]
                raise kind(
                    _join_reasons([str(one["reason"]) for one in problems]), hints=hints, files=problems
                )


def failed(error: OSError) -> EditFailed:
    """The error for a write that the system refuses, with what to do about it."""
    reason = (error.strerror or str(error)).lower()
    hints = [hint] if (hint := _HINTS.get(error.errno or 0)) else []
    return EditFailed(f"The edit was not applied: {reason}.", hints=hints, cause=reason)


def _join_reasons(reasons: list[str]) -> str:
    more = len(reasons) - _MOST_NAMED
    return " ".join(reasons[:_MOST_NAMED]) + (f" And {more} more." if more > 0 else "")
