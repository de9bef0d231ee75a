"""What is on record of a workspace, and what it may be called."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NewType

from codeplane.core.errors import InvalidArgument

WorkspaceId = NewType("WorkspaceId", str)
"""The name of a workspace; only `parse_workspace_id` makes one of what came from outside."""

LONGEST_ID: Final = 60
# It becomes the name of a directory, of a branch, and a value of an environment variable.
_ID: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?=[A-Za-z0-9_-]))*")
# `HEAD` and `primary` mean something else; a branch may not end with `.lock`.
_TAKEN: Final = frozenset(("head", "fetch_head", "orig_head", "primary"))


class WorkspaceKindName(StrEnum):
    """Where the files of a workspace are: in a git worktree of its own, or only in the state database."""

    WORKTREE = "worktree"
    MEMORY = "memory"


@dataclass(frozen=True)
class Workspace:
    """One workspace as the primary checkout's `state.db` has it."""

    id: WorkspaceId
    kind: WorkspaceKindName
    base_commit: str
    base_name: str  # what was asked for: a branch, a commit, or HEAD
    branch: str | None  # its own, where it has one
    has_made_branch: bool  # whether the branch came with the workspace and goes with it
    worktree: str | None  # the name that git has for it; None where it has no files on the disk
    created_ms: int
    used_ms: int
    revision: int = 0  # how often its files have been seen to differ since it was made or reset
    epoch: int = 0  # of the index, that the revision belongs to; 0 until it has been looked at
    port_offset: int = 0


def parse_workspace_id(text: str) -> WorkspaceId:
    """A name that is safe as a directory, as a branch and in an environment; anything else is refused."""
    name = text.strip()
    is_safe = len(name) <= LONGEST_ID and _ID.fullmatch(name) is not None
    if not is_safe or name.lower() in _TAKEN or name.lower().endswith(".lock"):
        raise InvalidArgument(
            f"{text[:LONGEST_ID]!r} can't be the name of a workspace.",
            hints=[f"At most {LONGEST_ID} letters, digits, '.', '_' and '-', such as fix-login-2."],
        )
    return WorkspaceId(name)
