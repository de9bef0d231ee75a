"""The messages that git writes for merges, reverts, squashes and conflicts."""

from collections.abc import Iterable
from typing import Final

import pygit2

from codeplane.git.history.commit_info import first_line, message_of
from codeplane.git.repo.outcome import Conflict

_CONFLICTS: Final = "# Conflicts:\n"
# Git leaves the destination out for these.
_USUAL: Final = ("master", "main")
_KINDS: Final = {
    "refs/heads/": "branch",
    "refs/remotes/": "remote-tracking branch",
    "refs/tags/": "tag",
}


def label_of(commit: pygit2.Commit) -> str:
    """The label of a commit beside conflict markers."""
    return f"{commit.short_id} ({first_line(message_of(commit))})"


def merge_message(handle: pygit2.Repository, ref: str, into: str | None) -> str:
    """`Merge branch 'x' into y`, by the kind of ref that was named."""
    try:
        name = handle.lookup_reference_dwim(ref).name
    except (KeyError, ValueError, pygit2.GitError):
        name = ""
    kind = next((kind for prefix, kind in _KINDS.items() if name.startswith(prefix)), "commit")
    end = "" if into in _USUAL else f" into {into or 'HEAD'}"
    return f"Merge {kind} '{ref}'{end}\n"


def revert_message(commit: pygit2.Commit, parent: str | None) -> str:
    """The message of a revert; `parent` is the mainline of a merge commit."""
    parent_note = f", reversing\nchanges made to {parent}" if parent is not None else ""
    return f'Revert "{first_line(message_of(commit))}"\n\nThis reverts commit {commit.id}{parent_note}.\n'


def squash_message(commits: Iterable[pygit2.Commit]) -> str:
    """The message that git proposes for a squashed merge: all messages, latest first."""
    parts = ["Squashed commit of the following:\n"]
    for commit in commits:
        who = f"{commit.author.name} <{commit.author.email}>"
        lines = "".join(f"    {line}".rstrip() + "\n" for line in message_of(commit).rstrip().split("\n"))
        parts.append(f"\ncommit {commit.id}\nAuthor: {who}\n\n{lines}")
    return "".join(parts)


def with_conflicts(message: str, conflicts: Iterable[Conflict]) -> str:
    """The message with git's comment that lists the paths in conflict."""
    lines = "".join(f"#\t{conflict.path}\n" for conflict in conflicts)
    return f"{message.rstrip()}\n\n{_CONFLICTS}{lines}" if lines else message


def split_conflicts(message: str) -> tuple[str, list[str]]:
    """Splits the message from git's `# Conflicts:` comment, and returns the paths listed there."""
    text, mark, comment = message.rpartition(_CONFLICTS)
    if not mark:
        return message, []
    return text.rstrip() + "\n", [line[2:] for line in comment.splitlines() if line.startswith("#\t")]
