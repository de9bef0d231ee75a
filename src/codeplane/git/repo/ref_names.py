"""Validates names of branches, tags and remotes; none may read as an option."""

import pygit2

from codeplane.core.errors import InvalidArgument

_LONGEST = 250


def branch_name(text: str) -> str:
    """Checks a branch name."""
    return _check_name(text, "branch", "refs/heads/")


def tag_name(text: str) -> str:
    """Checks a tag name."""
    return _check_name(text, "tag", "refs/tags/")


def remote_name(text: str) -> str:
    """Checks a remote name."""
    return _check_name(text, "remote", "refs/remotes/")


def _check_name(text: str, kind: str, prefix: str) -> str:
    is_valid = (
        0 < len(text) <= _LONGEST
        and text.isprintable()
        and not text.startswith(("-", "refs/"))
        and text not in ("HEAD", "@")
        and pygit2.reference_is_valid_name(prefix + text)
    )
    if not is_valid:
        raise InvalidArgument(f"{text[:_LONGEST]!r} is not a valid name for a {kind}.", name=text[:_LONGEST])
    return text
